"""Whatever is changed behind the ledger's back is found."""

import json
import sqlite3
from contextlib import closing

import pytest

from bocage.accounting import Entry, open_ledger, verify_export
from bocage.epsilon import Epsilon
from bocage.errors import LedgerCorrupt, LedgerError

TENTH = Epsilon.of("0.1")


@pytest.fixture
def path(tmp_path):
    """create, two openings, four charges (entries 4 to 7), a freeze; one answer."""
    with open_ledger(tmp_path / "ledger.db", create=True) as ledger:
        alice = ledger.analyst(ledger.table("people", Epsilon.of(1)), "alice", Epsilon.of(1))
        for name in "FMFM":
            part = alice.partition("by sex").part(name)
            last = ledger.charge(part, TENTH, '{"count":1}', request=name + str(ledger.head()))
        ledger.store_answer(part, "k", b"12", last.number)
        ledger.freeze(alice)
        ledger.export(tmp_path / "export.jsonl")
    return tmp_path / "ledger.db"


def tamper(path, *statements):
    """As somebody with the file and time would: without the triggers, which are put back."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
        for _, text in triggers:
            connection.execute(text)
        connection.commit()


def problems(path, **known):
    with open_ledger(path, check=False) as ledger:
        return " ".join(ledger.verify(**known).problems)


def test_untouched_ledger_verifies(path):
    tamper(path)
    assert problems(path) == ""


@pytest.mark.parametrize("number", [1, 3, 5, 8])
@pytest.mark.parametrize(
    "change",
    [
        "time = '2020-01-01T00:00:00.000000+00:00'",
        "action = 'thaw'",
        "scope = (SELECT key FROM scopes WHERE path = '[\"people\"]')",
        "nano = nano + 1",
        "memo = memo || ' '",
        "request = 'other'",
        "previous = hash",
        "hash = previous",
    ],
)
def test_edited_entry_is_detected(path, number, change):
    tamper(path, f"UPDATE entries SET {change} WHERE number = {number}")
    assert f"entry {number}" in problems(path)


def test_entry_edited_and_rehashed_is_detected_by_the_next(path):
    with open_ledger(path) as ledger:
        fourth = ledger.entries()[3]
    forged = Entry(**{**vars(fourth), "epsilon": Epsilon(1)}).sealed()
    tamper(path, f"UPDATE entries SET nano = 1, hash = '{forged.hash}' WHERE number = 4")
    assert "entry 5 does not continue the entry before it" in problems(path)


@pytest.mark.parametrize("number", [1, 2, 5, 8])
def test_deleted_entry_is_detected(path, number):
    tamper(path, f"DELETE FROM entries WHERE number = {number}")
    assert problems(path)


def test_deleted_middle_with_numbers_closed_up_is_detected(path):
    tamper(
        path,
        "DELETE FROM entries WHERE number = 5",
        "UPDATE entries SET number = number - 100 WHERE number > 5",
        "UPDATE entries SET number = number + 99 WHERE number < 0",
        "UPDATE head SET number = number - 1",
    )
    assert "entry 5 does not continue the entry before it" in problems(path)


def test_reordered_entries_are_detected(path):
    tamper(
        path,
        "UPDATE entries SET number = -1 WHERE number = 4",
        "UPDATE entries SET number = 4 WHERE number = 5",
        "UPDATE entries SET number = 5 WHERE number = -1",
    )
    assert "entry 4 was changed" in problems(path)


@pytest.mark.parametrize("number", [0, -5, 9])
def test_added_entry_is_detected(path, number):
    tamper(
        path,
        f"INSERT INTO entries SELECT {number}, time, action, scope, nano, memo, NULL, previous, hash "
        "FROM entries WHERE number = 4",
    )
    assert problems(path)


@pytest.mark.parametrize("number", [7, 8])
def test_changed_end_is_refused_for_charges(path, number):
    tamper(path, f"DELETE FROM entries WHERE number >= {number}")
    with pytest.raises(LedgerCorrupt, match="changed or cut off"):
        open_ledger(path)


def test_end_cut_off_together_with_the_head_is_seen_only_against_a_known_head(path):
    with open_ledger(path) as ledger:
        known = ledger.head()
    tamper(
        path,
        "DELETE FROM entries WHERE number = 8",
        "UPDATE scopes SET state = 'open' WHERE state = 'frozen'",
        "UPDATE head SET number = 7, hash = (SELECT hash FROM entries WHERE number = 7)",
    )
    assert problems(path) == ""
    assert problems(path, known=known) == "entry 8, known before, is missing."


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE scopes SET spent = spent - 1 WHERE path LIKE '%F%'",
        "UPDATE scopes SET spent = 0 WHERE path = '[\"people\"]'",
        "UPDATE scopes SET cap = 5 WHERE path = '[\"people\"]'",
        "UPDATE scopes SET cap = NULL WHERE path = '[\"people\"]'",
        "UPDATE scopes SET cap = 5 WHERE path LIKE '%M%'",
        "UPDATE scopes SET state = 'open' WHERE state = 'frozen'",
        "UPDATE scopes SET path = '[\"pets\"]' WHERE path = '[\"people\"]'",
        "UPDATE scopes SET path = 'no JSON' WHERE path LIKE '%F%'",
        "DELETE FROM scopes WHERE path LIKE '%F%'",
        "INSERT INTO scopes VALUES ('k', '[\"pets\"]', 0, 5, 'open')",
        "UPDATE answers SET entry = 2",
        "UPDATE answers SET entry = 5",
        "UPDATE answers SET body = CAST('13' AS BLOB)",
        "UPDATE answers SET key = 'other'",
        "UPDATE answers SET seal = seal + 1",
        "UPDATE answers SET scope = (SELECT key FROM scopes WHERE path = '[\"people\"]')",
        "DELETE FROM answers",
        "INSERT INTO answers SELECT scope, 'new', body, entry, seal FROM answers",
        "UPDATE tally SET number = number + 1 WHERE name = 'answers'",
        "UPDATE tally SET seals = 0 WHERE name = 'answers'",
        "DELETE FROM tally",
        "DELETE FROM boots",
        "UPDATE boots SET boot = 'other'",
        "UPDATE boots SET number = 99",
        "INSERT INTO boots SELECT 99, boot, seal FROM boots",
        "UPDATE secret SET value = CAST('other' AS BLOB)",
        "DELETE FROM secret",
        "UPDATE identity SET place = 'elsewhere'",
        "DELETE FROM identity",
        "UPDATE head SET hash = 'x'",
        "DELETE FROM head",
    ],
)
def test_edited_balance_answer_or_head_is_detected(path, change):
    tamper(path, change)
    assert problems(path)


@pytest.mark.parametrize("kind", ["table", "index", "trigger"])
def test_whatever_is_dropped_is_detected(path, kind):
    with closing(sqlite3.connect(path)) as file:
        names = [
            name
            for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL", (kind,))
        ]
    assert len(names) >= 2
    whole = path.read_bytes()
    for name in names:
        with closing(sqlite3.connect(path)) as file:
            file.execute(f"DROP {kind} {name}")
            file.commit()
        assert f"the {kind} {name} is missing" in problems(path)
        path.write_bytes(whole)  # the same file, not another one
    assert problems(path) == ""


@pytest.mark.parametrize(
    "change",
    [
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 2",
        "CREATE TRIGGER more AFTER INSERT ON entries BEGIN DELETE FROM answers; END",
        "CREATE VIEW more AS SELECT 1",
        "DROP INDEX one_entry_per_request; CREATE INDEX one_entry_per_request ON entries (scope)",
    ],
)
def test_another_format_or_structure_is_detected(path, change):
    with closing(sqlite3.connect(path)) as file:
        file.executescript(change)
    assert problems(path)


def test_an_entry_without_its_scope_is_named(path):
    tamper(path, "DELETE FROM scopes WHERE path LIKE '%F%'")
    assert "entry 4 names a scope that is not on record" in problems(path)


def test_charge_that_never_fitted_is_detected_even_in_a_consistent_chain(path):
    """A forger who rewrites the chain from entry 2 on cannot make it spend more than its caps."""
    with open_ledger(path) as ledger:
        entries = ledger.entries()
    statements, previous = [], entries[0].hash
    for entry in entries[1:]:
        cap = Epsilon(5) if entry.number == 2 else entry.epsilon
        forged = Entry(**{**vars(entry), "epsilon": cap, "previous": previous}).sealed()
        statements.append(
            f"UPDATE entries SET nano = {cap.nano}, previous = '{previous}', "
            f"hash = '{forged.hash}' WHERE number = {entry.number}"
        )
        previous = forged.hash
    tamper(path, *statements, f"UPDATE head SET hash = '{previous}'")
    assert "entry 4 could not have been accepted" in problems(path)


def test_export_detects_what_was_changed_in_it(path):
    export = path.with_name("export.jsonl")
    header, *lines = export.read_text().splitlines()
    assert verify_export(export).ok

    def changed(*new):
        export.write_text("\n".join(new) + "\n")
        return " ".join(verify_export(export).problems)

    assert "chain ends at 7" in changed(header, *lines[:-1])
    assert "follows entry 2" in changed(header, *lines[:2], *lines[3:])
    assert "follows entry" in changed(header, *lines[:3], lines[4], lines[3], *lines[5:])
    edited = json.dumps(json.loads(lines[3]) | {"nano": 1})
    assert "entry 4 was changed" in changed(header, *lines[:3], edited, *lines[4:])
    assert "cannot be read" in changed(header, *lines[:3], "[]", *lines[4:])
    assert "cannot be read" in changed(header, *lines[:3], '{"number": 4}', *lines[4:])
    forged = json.dumps(json.loads(header) | {"head": "0" * 64})
    assert "the head names" in changed(forged, *lines)


@pytest.mark.parametrize("header", ["", "[]", "hello", '{"format":"other"}', '{"format":"bocage-ledger"}'])
def test_file_that_is_no_export_is_refused(tmp_path, header):
    (tmp_path / "file").write_text(header + "\n")
    with pytest.raises(LedgerError, match="not an exported ledger"):
        verify_export(tmp_path / "file")


def test_export_of_a_newer_format_is_refused(tmp_path):
    header = {"format": "bocage-ledger", "version": 3, "entries": 0, "head": "0"}
    (tmp_path / "file").write_text(json.dumps(header) + "\n")
    with pytest.raises(LedgerError, match="newer Bocage"):
        verify_export(tmp_path / "file")
