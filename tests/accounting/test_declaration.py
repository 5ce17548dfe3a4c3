"""What a table is stands on the ledger; what holds for all its numbers cannot change there."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.accounting import Action, Scope, open_ledger, verify_export
from bocage.accounting.declaration import Declaration
from bocage.epsilon import Epsilon
from bocage.errors import DeclaredTwice, LedgerError
from old_ledgers import downgrade

ONE = Epsilon.of(1)
FIXED = {"adjacency": "add_remove"}
FIRST, SECOND = {"schema": "a1", "version": "x"}, {"schema": "b2", "version": "x"}
DECLARER = Path(__file__).with_name("declarer.py")
PEOPLE = Scope.table("people")


@pytest.fixture
def ledger(target):
    with open_ledger(target, create=True) as opened:
        opened.table("people", ONE)
        opened.table("pets", ONE)
        yield opened


def declarations(ledger):
    return [entry for entry in ledger.entries() if entry.action is Action.DECLARE]


def test_first_declaration_is_an_entry_and_the_same_again_is_none(ledger):
    assert ledger.declared(PEOPLE) is None
    first = ledger.declare(PEOPLE, FIXED, FIRST)
    again = ledger.declare(PEOPLE, dict(FIXED), dict(reversed(FIRST.items())))
    assert (first.action, first.repeated, first.number) == (Action.DECLARE, False, 4)
    assert again.repeated
    assert declarations(ledger) == [first] == [again]
    assert ledger.declared(PEOPLE) == (FIXED, FIRST)
    assert ledger.declared(Scope.table("pets")) is None
    assert ledger.spent(PEOPLE) == Epsilon(0)


def test_another_schema_or_version_is_an_event_also_on_the_way_back(ledger, tmp_path):
    for current in (FIRST, SECOND, SECOND, FIRST):
        ledger.declare(PEOPLE, FIXED, current)
        ledger.declare(Scope.table("pets"), {}, {"schema": "p"})
        assert ledger.declared(PEOPLE) == (FIXED, current)
    people = [entry for entry in declarations(ledger) if entry.scope == PEOPLE.path]
    assert [Declaration.read(entry.memo).current for entry in people] == [*(FIRST, SECOND, FIRST)]
    assert ledger.verify().ok
    ledger.export(tmp_path / "export.jsonl")
    assert verify_export(tmp_path / "export.jsonl").ok


def test_terms_that_are_not_given_stay_as_they_are(ledger):
    ledger.declare(PEOPLE, FIXED, {"schema": "s", "rows of a": "1"})
    assert ledger.declare(PEOPLE, FIXED, {"rows of a": "1"}).repeated
    ledger.declare(PEOPLE, FIXED, {"rows of b": "2"})
    assert ledger.declared(PEOPLE) == (FIXED, {"schema": "s", "rows of a": "1", "rows of b": "2"})


def test_what_one_term_of_a_kind_ever_was_no_other_becomes(ledger):
    def declare(term, text):
        return ledger.declare(PEOPLE, FIXED, {term: text}, distinct="rows of ")

    declare("rows of a", "1")
    declare("rows of a", "2")
    declare("other", "1")  # of another kind
    for text in ("1", "2"):
        with pytest.raises(DeclaredTwice, match="rows of b are declared the same as rows of a") as no:
            declare("rows of b", text)
        assert no.value.other == "rows of a"
    declare("rows of b", "3")
    declare("rows of a", "1")  # as it was


def test_of_threads_that_declare_two_terms_the_same_one_wins_and_none_is_lost(ledger):
    def declare(number):
        try:
            ledger.declare(PEOPLE, FIXED, {f"rows of {number}": str(number // 2)}, distinct="rows of ")
        except DeclaredTwice:
            return 1
        return 0

    with ThreadPoolExecutor(8) as pool:
        refused = sum(pool.map(declare, range(16)))
    assert refused == 8
    terms = ledger.declared(PEOPLE)[1]
    assert sorted(terms.values()) == sorted(map(str, range(8)))


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ({"adjacency": "replace"}, "adjacency 'add_remove' on record, not 'replace'"),
        ({}, r"adjacency 'add_remove' on record, not \(not declared\)"),
        (FIXED | {"over": "drop"}, r"over \(not declared\) on record, not 'drop'"),
    ],
)
def test_other_fixed_terms_are_refused_and_nothing_is_recorded(ledger, fixed, said):
    ledger.declare(PEOPLE, FIXED, FIRST)
    with pytest.raises(LedgerError, match=f"table 'people' has {said}.*under another name"):
        ledger.declare(PEOPLE, fixed, SECOND)
    assert ledger.declared(PEOPLE) == (FIXED, FIRST)
    assert len(declarations(ledger)) == 1


def test_only_a_table_that_is_open_has_terms_and_a_closed_one_keeps_them(ledger):
    with pytest.raises(LedgerError, match="'plants' is not in this ledger"):
        ledger.declare(Scope.table("plants"), FIXED, FIRST)
    with pytest.raises(LedgerError, match="terms are declared of tables"):
        ledger.declare(ledger.analyst(PEOPLE, "ann", ONE), FIXED, FIRST)
    ledger.freeze(PEOPLE)
    ledger.declare(PEOPLE, FIXED, FIRST)
    ledger.revoke(PEOPLE)
    ledger.declare(PEOPLE, FIXED, SECOND)
    assert ledger.verify().ok


@pytest.mark.parametrize("terms", [({"a": 1}, {}), ({}, {2: "b"}), ({}, {"a": None})])
def test_terms_are_text(ledger, terms):
    with pytest.raises(LedgerError, match="is text"):
        ledger.declare(PEOPLE, *terms)


@pytest.mark.slow
@given(st.dictionaries(st.text(), st.text()), st.dictionaries(st.text(), st.text()))
def test_any_terms_are_read_as_they_were_written(fixed, current):
    terms = Declaration.of(fixed, current)
    assert terms.memo.isascii()
    assert Declaration.read(terms.memo) == terms


def test_of_two_processes_that_declare_at_once_one_decides(ledger, target):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    names = ("add_remove", "replace")
    started = [subprocess.Popen([sys.executable, str(DECLARER), str(target), name], **pipes) for name in names]
    for one in started:
        assert one.stdout.readline() == "ready\n"
    for one in started:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = dict(zip(names, (one.communicate(timeout=60)[0].strip() for one in started), strict=True))
    assert sorted(text == "declared" for text in told.values()) == [False, True]
    winner = next(name for name, text in told.items() if text == "declared")
    entries = declarations(ledger)
    assert all(Declaration.read(one.memo).fixed == {"adjacency": winner} for one in entries)
    assert len(entries) == 5
    assert ledger.verify().ok


def test_threads_that_declare_the_same_at_once_make_one_entry(ledger):
    gate = threading.Barrier(8)

    def work():
        gate.wait(60)
        ledger.declare(PEOPLE, FIXED, FIRST)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(declarations(ledger)) == 1


def test_the_last_declaration_is_found_without_reading_the_chain(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True) as ledger:
        ledger.declare(ledger.table("people", ONE), FIXED, FIRST)
        with ledger._store.read() as run:
            plan = str(
                run(
                    "EXPLAIN QUERY PLAN SELECT number FROM entries WHERE scope = ? AND "
                    "action = 'declare' ORDER BY number DESC LIMIT 1",
                    PEOPLE.key,
                )
            )
    assert "INDEX declarations" in plan
    assert "SCAN" not in plan


@pytest.mark.parametrize("version", [1, 2])
def test_a_ledger_of_an_older_format_gets_terms_and_a_secret_when_opened(target, version):
    with open_ledger(target, create=True) as ledger:
        ledger.table("people", ONE)
    downgrade(target, version)
    with open_ledger(target, check=False) as ledger:  # to look at it changes nothing
        assert ledger.head().number == 2
        assert ledger.verify().ok
    with open_ledger(target) as ledger, open_ledger(target) as other:
        ledger.declare(PEOPLE, FIXED, FIRST)
        assert ledger.blind("a") == other.blind("a")
        assert ledger.verify().ok
