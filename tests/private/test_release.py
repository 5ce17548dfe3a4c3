"""The order of a release: refuse, charge, read, add noise; and what is asked again is free."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import bocage
from bocage.accounting import LedgerAccount, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import (
    BudgetExceeded,
    EngineError,
    LedgerError,
    NoiseError,
    PlanError,
    ScopeClosed,
)
from bocage.mechanisms import Adjacency
from bocage.private import Answer, Kind
from bocage.private.count import Count
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from private.noises import SilentNoise
from private.questions import ALL, QUESTIONS, Watched
from private.tables import PEOPLE, ROWS, table

SECRET = "Mme Untel has 4711 rows"  # noqa: S105 - a datum that must not leave


@pytest.fixture
def ledger(book):
    with open_ledger(book, create=True) as opened:
        yield opened


def private(ledger, engine, budget="4", noise=None):
    people = ledger.table("people", Epsilon.of(10))
    account = LedgerAccount(ledger, ledger.analyst(people, "alice", Epsilon.of(budget)))
    executor = LiveExecutor(Terms(PEOPLE, Adjacency.ADD_REMOVE), engine, noise or SilentNoise())
    return PrivateTable(executor, account, WHOLE)


@ALL
def test_the_charge_is_on_record_before_a_row_is_read(ask, ledger, book):
    seen = []

    def look():
        with open_ledger(book) as other:  # as another process would see it
            seen.append((str(other.spent(people)), len(other.entries())))

    private_table = private(ledger, Watched(look))
    people = ledger.table("people")
    before = len(ledger.entries())
    answer = ask(private_table, "0.25")
    assert seen == [("0.25", before + 1)]
    assert answer.entry == ledger.head().number
    assert answer.kind is Kind.RELEASE
    assert answer.cost == "0.25"
    assert ledger.verify().ok


@ALL
def test_a_refusal_never_reads(ask, ledger):
    engine = Watched()
    private_table = private(ledger, engine, budget="0.2")
    entries = len(ledger.entries())
    with pytest.raises(BudgetExceeded) as refusal:
        ask(private_table, "0.25")
    assert (refusal.value.asked, refusal.value.left) == ("0.25", "0.2")
    assert engine.scans == 0
    assert len(ledger.entries()) == entries


class Boom(Exception):
    pass


def fail_plainly():
    raise Boom(SECRET)


def fail_chained():
    try:
        fail_plainly()
    except Boom as error:
        raise EngineError("the table could not be read.") from error


def fail_in_a_context():
    try:
        fail_plainly()
    except Boom:
        raise EngineError("the server is gone.")  # noqa: B904 - an engine that forgets `from None`


@pytest.mark.parametrize("failure", [fail_plainly, fail_chained, fail_in_a_context])
def test_a_failing_engine_leaves_the_charge_and_tells_nothing(failure, ledger, caplog):
    caplog.set_level(logging.DEBUG)
    private_table = private(ledger, Watched(failure))
    with pytest.raises(EngineError) as failed:
        private_table.noisy_count(1)
    error = failed.value
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert SECRET not in shown + str(error) + caplog.text
    assert str(private_table.spent()) == "1"
    assert private_table.remaining() == Epsilon.of(3)
    assert ledger.verify().ok
    with pytest.raises(EngineError):  # nothing was stored: asking again pays again
        private_table.noisy_count(1)
    assert str(private_table.spent()) == "2"


class Clumsy(SilentNoise):
    def laplace(self, scale, size):
        raise Boom("noise")


def test_no_exact_count_is_in_the_frames_of_a_failure(ledger):
    private_table = private(ledger, Watched(), noise=Clumsy())
    with pytest.raises(EngineError) as failed:
        private_table.noisy_sum("age", 1)
    trace = traceback.TracebackException.from_exception(failed.value, capture_locals=True)
    assert trace.stack[-1].name == "_guarded"  # the frames that held counts are gone
    shown = "".join(str(frame.locals) for frame in trace.stack[1:])
    assert "Tally" not in shown
    assert "array(" not in shown


def test_the_log_names_the_kind_of_failure_only(ledger, caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineError):
        private(ledger, Watched(fail_plainly)).noisy_count(1)
    assert caplog.messages == ["a release failed with Boom"]


@ALL
def test_the_same_question_is_free_and_a_fresh_one_is_not(ask, alice, owner):
    first = ask(alice, "0.5")
    again = ask(alice, "0.5")
    assert again.kind is Kind.STORED
    assert (again.values, again.lows, again.entry) == (first.values, first.lows, first.entry)
    assert again.cost == "0"
    assert str(alice.spent()) == "0.5"
    ask(alice, "0.4")  # another epsilon is another question
    assert str(owner.spent()) == "0.9"


def test_fresh_noise_is_paid_for_and_does_not_replace_the_first_answer(alice):
    first = alice.noisy_count("0.1")
    fresh = [alice.noisy_count("0.1", fresh=True) for _ in range(20)]
    assert {answer.kind for answer in fresh} == {Kind.RELEASE}
    assert len({answer.entry for answer in fresh}) == 20
    # Twenty equal draws of scale 10 have probability (1/20)**19 or so: below 1e-24.
    assert len({answer.value for answer in fresh}) > 1
    assert str(alice.spent()) == "2.1"
    assert alice.noisy_count("0.1").value == first.value


def test_a_first_answer_that_was_fresh_is_kept_too(alice):
    fresh = alice.noisy_count("0.1", fresh=True)
    assert alice.noisy_count("0.1").value == fresh.value
    assert str(alice.spent()) == "0.1"


def test_stored_answers_belong_to_one_analyst(owner):
    alice, bob = owner.analyst("alice", 4), owner.analyst("bob", 4)
    alice.noisy_count(1)
    assert bob.noisy_count(1).kind is Kind.RELEASE
    assert (str(alice.spent()), str(bob.spent()), str(owner.spent())) == ("1", "1", "2")


def test_stored_answers_belong_to_one_part(alice):
    parts = alice.partition("sex")
    parts["F"].noisy_count(1)
    assert parts["M"].noisy_count(1).kind is Kind.RELEASE
    assert str(alice.spent()) == "1"


def test_another_process_gets_the_stored_answer_free(owner, alice, book):
    first = alice.noisy_counts("city", 1)
    part = alice.partition("city")["Nice"].noisy_sum("age", "0.5")
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from private.tables import PEOPLE, ROWS
import bocage
with bocage.protect(ROWS, PEOPLE, ledger={str(book)!r}, cap=10) as owner:
    alice = owner.analyst("alice", 4)
    print(alice.noisy_counts("city", 1).to_json())
    print(alice.partition("city")["Nice"].noisy_sum("age", "0.5").to_json())
    print(alice.spent())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    counts, total, spent = done.stdout.splitlines()
    assert Answer.from_json(counts).values == first.values
    assert Answer.from_json(total).value == part.value
    assert Answer.from_json(total).kind is Kind.STORED
    assert spent == "1.5"


def test_with_nothing_left_stored_answers_are_still_free(owner):
    carol = owner.analyst("carol", 1)
    first = carol.noisy_count(1)
    assert carol.remaining() == Epsilon(0)
    assert carol.noisy_count(1).value == first.value
    with pytest.raises(BudgetExceeded):
        carol.noisy_count(1, fresh=True)
    assert str(carol.spent()) == "1"


def test_a_frozen_table_gives_nothing_not_even_what_was_paid_for(owner, alice):
    alice.noisy_count(1)
    alice.partition("sex")["F"].noisy_count(1)
    owner.freeze()
    for ask in (
        lambda: alice.noisy_count(1),
        lambda: alice.noisy_count("0.5"),
        lambda: alice.partition("sex")["F"].noisy_count(1),
        lambda: owner.analyst("dora", 1),
    ):
        with pytest.raises(ScopeClosed, match="frozen"):
            ask()
    assert str(owner.spent()) == "2"
    owner.thaw()
    assert alice.noisy_count(1).kind is Kind.STORED
    assert owner.ledger.verify().ok


def test_a_revoked_analyst_gets_nothing(owner, alice):
    alice.noisy_count(1)
    owner.ledger.revoke(alice._account.scope)
    with pytest.raises(ScopeClosed, match="revoked"):
        alice.noisy_count(1)
    assert owner.ledger.verify().ok


def test_two_analysts_together_cannot_pass_the_cap(book):
    with bocage.protect(ROWS, PEOPLE, ledger=book, cap=1, create=True) as owner:
        alice, bob = owner.analyst("alice", "0.8"), owner.analyst("bob", "0.8")
        alice.noisy_count("0.7")
        with pytest.raises(BudgetExceeded, match=r"table 'people' has 0\.3 left"):
            bob.noisy_count("0.4")
        bob.noisy_count("0.3")
        assert (str(owner.spent()), str(owner.remaining())) == ("1", "0")
        assert str(alice.remaining()) == "0"  # a tenth of its own, nothing of the table's


def test_a_whole_level_is_one_scan_and_one_charge(ledger):
    engine = Watched()
    level = private(ledger, engine).partition("sex").partition("city")
    entries = len(ledger.entries())
    level.noisy_counts("buys", 1)
    level.choose(["age", "income"], "max", 1)
    assert engine.scans == 2
    assert len(ledger.entries()) == entries + 2


def test_parts_cost_their_maximum_and_are_usable_after_reopening(book):
    def spend(steps):
        with bocage.protect(ROWS, PEOPLE, ledger=book, cap=10, create=True) as owner:
            alice = owner.analyst("alice", 4)
            parts = alice.partition("sex")
            for key, epsilon in steps:
                parts[key].noisy_sum("age", epsilon, fresh=True)
            inner = parts["M"].partition("city")
            inner["Nice"].noisy_count("0.25", fresh=True)
            inner["Lyon"].noisy_count("0.25", fresh=True)
            return str(alice.spent())

    # F: 1. M: 0.5 and a maximum of 0.25 inside it.
    assert spend([("F", 1), ("M", "0.5")]) == "1"
    # Later, in the same scopes: F 1.5, M 0.75 + 0.25.
    assert spend([("F", "0.5")]) == "1.5"
    # M rises to 1 + 0.75 + 0.25 = 2.
    assert spend([("M", "0.75")]) == "2"


def test_a_partition_of_other_rows_is_another_partition(alice):
    alice.partition("sex")["F"].noisy_count(1)
    alice.where("age > 3").partition("sex")["F"].noisy_count(1)
    assert str(alice.spent()) == "2"
    alice.partition("sex", values=["F"])["F"].noisy_count(1)
    assert str(alice.spent()) == "3"


def test_groups_of_a_level_cannot_overlap_and_other_groups_add():
    level = table().reserve(10, "a tree").split([("city", None)])
    with pytest.raises(PlanError, match="one group"):
        level.group({"one": [0, 1], "two": [1, 2]})
    one = Epsilon.of(1)
    level.group({"one": [0], "two": [1, 2]})["two"].ask(Count(one))
    assert str(level.remaining()) == "9"
    # The same names for other cells: what they spend adds up.
    level.group({"one": [1, 2], "two": [0]})["one"].ask(Count(one))
    assert str(level.remaining()) == "8"


def test_a_learner_cannot_spend_more_than_it_reserved(owner, alice):
    level = alice.reserve(1, "a tree")
    assert str(owner.spent()) == "1"
    level.ask(Count(Epsilon.of("0.6")))
    with pytest.raises(BudgetExceeded):
        level.ask(Count(Epsilon.of("0.5")))
    assert str(owner.spent()) == "1"  # what was not used is spent as well


@ALL
def test_opendp_is_refused_before_the_charge_or_answers(ask, book):
    with bocage.protect(ROWS, PEOPLE, ledger=book, cap=10, create=True, noise="opendp") as owner:
        alice = owner.analyst("alice", 4)
        try:
            answer = ask(alice, 1)
        except NoiseError:
            assert ask is QUESTIONS["choose thresholds"]  # it knows no weights
            assert str(owner.spent()) == "0"
        else:
            assert answer.cost == "1"
            assert str(owner.spent()) == "1"


def test_an_unknown_noise_or_adjacency_is_refused(book):
    for wrong in ({"noise": "none"}, {"adjacency": "swap"}):
        with pytest.raises(PlanError, match="there is no"):
            bocage.protect(ROWS, PEOPLE, ledger=book, cap=1, create=True, **wrong)
    assert not book.exists()


def test_study_needs_no_ledger_and_gives_no_number():
    with bocage.study(ROWS, PEOPLE) as public:
        answer = public.noisy_count(1)
        assert answer.entry is None
        assert answer.remaining is None
        assert not public.has_ledger


def test_an_analyst_cannot_close_the_owners_table(owner, alice):
    with alice:
        alice.noisy_count(1)
    assert owner.analyst("bob", 1).noisy_count(1).kind is Kind.RELEASE


def test_nothing_is_shown_of_the_table_but_its_name(owner, alice):
    assert repr(alice) == "<PrivateTable 'people', epsilon 4 left>"
    alice.noisy_count(1)
    with pytest.raises(LedgerError, match="cap of 4 on record"):
        owner.analyst("alice", 5)
