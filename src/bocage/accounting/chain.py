"""The chain of entries and the balances beside it, as SQL inside one transaction.

What reads takes `run`, the statement runner of an open transaction. What appends takes the whole
transaction, which holds the write lock: number and hash of an entry depend on the one before.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from bocage.accounting import algebra, answers, machine_run
from bocage.accounting.algebra import Action, Balance, State
from bocage.accounting.anchor import Mark
from bocage.accounting.declaration import Declaration
from bocage.accounting.entry import (
    BEFORE_ALL,
    VERSION,
    Entry,
    check_key,
    check_memo,
    now,
    read_entry,
)
from bocage.accounting.ledger_store import LedgerTransaction
from bocage.accounting.scope import Scope
from bocage.accounting.secret import Secret
from bocage.accounting.sql_schema import PAGE
from bocage.accounting.verification import Head, Replay
from bocage.epsilon import ZERO, Epsilon
from bocage.errors import BocageError, DeclaredTwice, LedgerCorrupt, LedgerError, RequestReused
from bocage.storage import Run

_SELECT_ENTRY = (
    "SELECT number, time, action, COALESCE(path, '[]'), nano, memo, request, previous, hash "
    "FROM entries LEFT JOIN scopes ON scopes.key = entries.scope "
)
_SELECT_LAST = (
    "SELECT (SELECT number FROM head) AS named, (SELECT hash FROM head) AS sealed, "
    + _SELECT_ENTRY.removeprefix("SELECT ")
    + "WHERE number >= (SELECT number FROM head) ORDER BY number LIMIT 2"
)
_ONCE = " ON CONFLICT (scope, request) WHERE request IS NOT NULL DO NOTHING RETURNING number"
_SELECT_BALANCE = "SELECT path, spent, cap, state FROM scopes "


def create(run: Run) -> None:
    """Write the first entry. Its random name makes every chain differ from every other."""
    memo = json.dumps({"ledger": uuid.uuid4().hex, "version": VERSION}, separators=(",", ":"))
    first = Entry(1, now(), Action.CREATE, (), ZERO, memo, None, BEFORE_ALL).sealed()
    run("INSERT INTO head (id, number, hash) VALUES (1, ?, ?)", 1, first.hash)
    _insert(run, first, "")
    # The secret is in no entry and no export.
    run("INSERT INTO secret (id, value) VALUES (1, ?)", Secret.new().value)


def name(run: Run) -> str:
    """The random name that the first entry gives to the chain."""
    rows = run("SELECT memo FROM entries WHERE number = 1")
    try:
        return str(json.loads(rows[0][0])["ledger"])
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise LedgerCorrupt("the ledger has no name. Verify it.") from error


def is_anchored(run: Run) -> bool:
    return bool(run("SELECT 1 FROM tally WHERE name = 'anchor'"))


def note_anchor(run: Run) -> None:
    """From now on, nobody writes without advancing the anchor."""
    run("INSERT INTO tally (name, number, seals) VALUES ('anchor', 1, 0) ON CONFLICT DO NOTHING")


def secret(run: Run) -> Secret:
    rows = run("SELECT value FROM secret")
    if len(rows) != 1:
        raise LedgerCorrupt("the secret of the ledger is gone. Verify it, and restore a backup.")
    return Secret(bytes(rows[0][0]))


def append(
    transaction: LedgerTransaction,
    action: Action,
    scope: Scope,
    amount: Epsilon,
    *,
    memo: str = "",
    request: str | None = None,
    lasting: bool = True,
) -> Entry:
    """Check an action against the balances on its path, and record both."""
    check_memo(memo)
    if request is not None:
        check_key(request)
    run, balances = transaction.run, transaction.balances
    previous = transaction.appended or last_entry(run)
    transaction.head = Head(previous.number, previous.hash)
    lineage = scope.lineage
    path = [balances[above] for above in lineage] if balances.keys() >= set(lineage) else path_balances(run, scope)
    try:
        changed = algebra.transition(action, path, amount)
    except BocageError:  # what was charged before is not refused because nothing is left by now
        first = None if request is None else _find_request(run, scope, request)
        if first is None:
            raise
        return _again(transaction, first, (action, amount, memo), path, lasting=lasting)
    path = algebra.after(path, changed)
    left = algebra.remaining(path) if action is Action.CHARGE else None
    entry = Entry(
        previous.number + 1,
        now(),
        action,
        scope.path,
        amount,
        memo,
        request,
        previous.hash,
        left=left,
    ).sealed()
    if not _insert(run, entry, scope.key):
        first = _find_request(run, scope, str(request))
        if first is None:
            raise LedgerCorrupt("a request on record cannot be found. Verify the ledger.")
        return _again(transaction, first, (action, amount, memo), path, lasting=lasting)
    if changed:
        rows = ", ".join(["(?, ?, ?, ?, ?)"] * len(changed))
        run(
            f"INSERT INTO scopes (key, path, spent, cap, state) VALUES {rows} ON CONFLICT (key) "
            "DO UPDATE SET spent = excluded.spent, cap = excluded.cap, state = excluded.state",
            *(field for balance in changed for field in (balance.scope.key, *_balance_row(balance))),
        )
    if transaction.appended is None:
        machine_run.note(transaction, entry.number)
    run("UPDATE head SET number = ?, hash = ?", entry.number, entry.hash)
    balances.update(zip(lineage, path, strict=True))
    transaction.appended, transaction.head = entry, Head(entry.number, entry.hash)
    return entry


def declare(transaction: LedgerTransaction, scope: Scope, terms: Declaration, distinct: str | None) -> Entry:
    """Record the terms of a table, unless its last declaration has them."""
    last = declaration(transaction, scope)
    if last is not None:
        on_record = Declaration.read(last.memo)
        on_record.require_same(terms, scope.title)
        after = on_record.and_then(terms)
        if on_record == after:
            return last.again()
        if distinct is not None:
            _require_distinct(transaction, scope, terms, distinct)
        terms = after
    return append(transaction, Action.DECLARE, scope, ZERO, memo=terms.memo)


def _require_distinct(run: Run, scope: Scope, terms: Declaration, kind: str) -> None:
    """Refuse a text that another term of the kind has now or ever had."""
    for (memo,) in run("SELECT memo FROM entries WHERE scope = ? AND action = 'declare' ORDER BY number", scope.key):
        if twin := Declaration.read(memo).twin(terms, kind):
            raise DeclaredTwice(scope.title, *twin)


def declaration(run: Run, scope: Scope) -> Entry | None:
    """The entry of the last declaration, by an index of its own."""
    rows = run(
        _SELECT_ENTRY + "WHERE scope = ? AND action = 'declare' ORDER BY number DESC LIMIT 1",
        scope.key,
    )
    return _entry(rows[0]) if rows else None


def note_move(transaction: LedgerTransaction, memo: str) -> Entry:
    """Record that the owner has moved the ledger."""
    previous = last_entry(transaction)
    number, memo = previous.number + 1, check_memo(memo)
    entry = Entry(number, now(), Action.MOVE, (), ZERO, memo, None, previous.hash).sealed()
    _insert(transaction, entry, "")
    machine_run.note(transaction, number)
    transaction.run("UPDATE head SET number = ?, hash = ?", number, entry.hash)
    return entry


def head(run: Run) -> Head:
    """What the head says, unchecked."""
    rows = run("SELECT number, hash FROM head")
    return Head(*rows[0]) if rows else Head(0, BEFORE_ALL)


def last_entry(run: Run) -> Entry:
    """The last entry, which must be the one that the head names."""
    rows = run(_SELECT_LAST)
    last = _entry(rows[0][2:]) if len(rows) == 1 else None
    if last is None or rows[0][:2] != (last.number, last.digest):
        raise LedgerCorrupt(
            "the end of the ledger was changed or cut off. Nothing is charged to it: "
            "verify the ledger, and restore it from a backup."
        )
    return last


def entry(run: Run, number: int) -> Entry | None:
    rows = run(_SELECT_ENTRY + "WHERE number = ?", number)
    return _entry(rows[0]) if rows else None


def require_not_behind(run: Run, ledger: str, last: Entry, mark: Mark) -> None:
    """Refuse a ledger that does not hold the entry that its anchor names."""
    if mark.ledger != ledger:
        raise LedgerError("the anchor is that of another ledger.")
    marked = entry(run, mark.number)
    if marked is None:
        raise LedgerCorrupt(
            f"the ledger ends at entry {last.number}, and its anchor names entry {mark.number}: it "
            "is an older copy, and what was spent since is not in it. Nothing is charged to it. "
            "Put the newest copy in its place. If that is lost, begin a new ledger and a new anchor "
            "with what the caps certainly leave."
        )
    if marked.digest != mark.hash:
        raise LedgerCorrupt(
            f"entry {mark.number} of the ledger is not the one that its anchor names: it is another "
            "copy, that was charged by itself. Nothing is charged to it. Put the anchored one back."
        )


def path_balances(run: Run, scope: Scope) -> list[Balance]:
    """The balances from the table down to `scope`."""
    lineage = scope.lineage
    marks = ", ".join("?" * len(lineage))
    rows = run(_SELECT_BALANCE + f"WHERE key IN ({marks})", *(above.key for above in lineage))
    by_text = {above.text: above for above in lineage}
    on_record = [_balance(row, by_text.get(row[0])) for row in rows]
    return algebra.path_balances(lineage, {balance.scope: balance for balance in on_record})


def balances(run: Run) -> list[Balance]:
    """All scopes on record, in the order of their paths."""
    return sorted(map(_balance, run(_SELECT_BALANCE)), key=lambda balance: balance.scope.path)


def entries(run: Run, scope: Scope | None = None, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
    """Entries in order, page by page, of `scope` and everything below it."""
    below = scope.text[:-1] if scope else "["  # the path without its closing bracket
    while limit is None or limit > 0:
        rows = run(
            _SELECT_ENTRY + "WHERE number > ? AND substr(COALESCE(path, '[]'), 1, ?) = ? ORDER BY number LIMIT ?",
            *(after, len(below), below, PAGE if limit is None else min(PAGE, limit)),
        )
        yield from map(_entry, rows)
        if not rows:
            return
        after, limit = rows[-1][0], None if limit is None else limit - len(rows)


def replay(run: Run, known: Head | None, tables: set[str]) -> Replay:
    """Walk the whole chain and compare what is on record with what follows from it.

    `tables` are those that are there; that others are missing is for the database to report.
    """
    replayed = Replay(known)
    if {"entries", "scopes"} <= tables:
        _replay_entries(run, replayed)
        _compare_balances(run, replayed)
        answers.check(run, tables, replayed.report)
    return replayed


def _replay_entries(run: Run, replayed: Replay) -> None:
    after = -(2**62)  # an entry numbered by hand must not hide below 1
    while rows := run(_SELECT_ENTRY + "WHERE number > ? ORDER BY number LIMIT ?", after, PAGE):
        after = rows[-1][0]
        for row in rows:
            try:
                replayed.add(_entry(row))
            except LedgerCorrupt as error:
                replayed.report(str(error))
    for (number,) in run(
        "SELECT number FROM entries LEFT JOIN scopes ON scopes.key = entries.scope "
        "WHERE path IS NULL AND entries.scope <> '' ORDER BY number LIMIT 20"
    ):
        replayed.report(f"entry {number} names a scope that is not on record.")


def _compare_balances(run: Run, replayed: Replay) -> None:
    on_record = {row[0]: row[1:] for row in run("SELECT key, path, spent, cap, state FROM scopes")}
    for scope, balance in replayed.balances.items():
        if on_record.pop(scope.key, None) != _balance_row(balance):
            replayed.report(f"the balance of {scope.title} does not follow from the entries.")
    if on_record:
        replayed.report(f"{len(on_record)} scopes on record have no entry.")


def _find_request(run: Run, scope: Scope, request: str) -> Entry | None:
    rows = run(_SELECT_ENTRY + "WHERE scope = ? AND request = ?", scope.key, request)
    return _entry(rows[0]) if rows else None


def _again(
    transaction: LedgerTransaction,
    first: Entry,
    asked: tuple[Action, Epsilon, str],
    path: list[Balance],
    *,
    lasting: bool,
) -> Entry:
    """The entry that a request made before, if it is the same and may still be made."""
    if (first.action, first.epsilon, first.memo) != asked:
        raise RequestReused(first.request, first.number)
    algebra.require_open(path)
    if not lasting:
        machine_run.require_this(transaction, first)
    return first.again()


def _insert(run: Run, entry: Entry, key: str) -> bool:
    """Add an entry, unless there is one of the same request; whether it was added."""
    once = "" if entry.request is None else _ONCE
    inserted = run(
        "INSERT INTO entries (number, time, action, scope, nano, memo, request, previous, hash) "
        f"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?){once}",
        *(entry.number, entry.time, str(entry.action), key, entry.epsilon.nano),
        *(entry.memo, entry.request, entry.previous, entry.hash),
    )
    return entry.request is None or bool(inserted)


def _entry(row: tuple[Any, ...]) -> Entry:
    number, time, action, path, nano, memo, request, previous, digest = row
    try:
        scope = json.loads(path)
    except ValueError as error:
        raise LedgerCorrupt(f"entry {number} of the ledger cannot be read.") from error
    fields = {"time": time, "action": action, "scope": scope, "nano": nano, "memo": memo}
    return read_entry(number, **fields, request=request, previous=previous, hash=digest)


def _balance(row: tuple[Any, ...], parsed: Scope | None = None) -> Balance:
    """A balance on record; `parsed` is its scope where the path need not be read again."""
    path, spent, cap, state = row
    try:
        scope = parsed or Scope(tuple(json.loads(path)))
        return Balance(scope, Epsilon(spent), None if cap is None else Epsilon(cap), State(state))
    except (ValueError, TypeError, BocageError) as error:
        raise LedgerCorrupt("a balance of the ledger cannot be read. Verify it.") from error


def _balance_row(balance: Balance) -> tuple[str, int, int | None, str]:
    cap = None if balance.cap is None else balance.cap.nano
    return (balance.scope.text, balance.spent.nano, cap, str(balance.state))
