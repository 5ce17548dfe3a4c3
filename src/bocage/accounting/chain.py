"""The chain of entries and the balances beside it, as SQL inside one transaction.

Every function takes `run`, the statement runner of an open transaction. What changes the ledger
must hold the write lock (`Store.write`): number and hash of an entry depend on the one before.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from bocage.accounting import algebra, boot
from bocage.accounting.algebra import Action, Balance, State
from bocage.accounting.entry import (
    BEFORE_ALL,
    VERSION,
    Entry,
    check_key,
    check_memo,
    now,
    read_entry,
)
from bocage.accounting.scope import Scope
from bocage.accounting.store import Run
from bocage.accounting.verification import Head, Replay
from bocage.epsilon import ZERO, Epsilon
from bocage.errors import BocageError, LedgerCorrupt, LedgerError

PAGE = 1000

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


def append(
    run: Run,
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
    # Nobody else writes in this transaction: what it has appended itself is not read again.
    known: dict[Any, Any] = getattr(run, "known", {})
    previous: Entry = known.get(Entry) or last_entry(run)
    lineage = scope.lineage
    path = [known[s] for s in lineage] if known.keys() >= set(lineage) else line(run, scope)
    try:
        changed = algebra.transition(action, path, amount)
    except BocageError:  # what was charged before is not refused because nothing is left by now
        first = None if request is None else _find_request(run, scope, request)
        if first is None:
            raise
        return _again(run, first, (action, amount, memo), path, lasting=lasting)
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
        return _again(run, first, (action, amount, memo), path, lasting=lasting)
    rows = ", ".join(["(?, ?, ?, ?, ?)"] * len(changed))
    run(
        f"INSERT INTO scopes (key, path, spent, cap, state) VALUES {rows} ON CONFLICT (key) "
        "DO UPDATE SET spent = excluded.spent, cap = excluded.cap, state = excluded.state",
        *(field for one in changed for field in (one.scope.key, *_balance_row(one))),
    )
    if Entry not in known:
        boot.note(run, entry.number)
    run("UPDATE head SET number = ?, hash = ?", entry.number, entry.hash)
    known.update(zip(lineage, path, strict=True))
    known[Entry] = entry
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


def line(run: Run, scope: Scope) -> list[Balance]:
    """The balances from the table down to `scope`."""
    lineage = scope.lineage
    marks = ", ".join("?" * len(lineage))
    rows = run(_SELECT_BALANCE + f"WHERE key IN ({marks})", *(above.key for above in lineage))
    written = {above.text: above for above in lineage}
    known = [_balance(row, written.get(row[0])) for row in rows]
    return algebra.line(lineage, {balance.scope: balance for balance in known})


def balances(run: Run) -> list[Balance]:
    """All scopes on record, in the order of their paths."""
    return sorted(map(_balance, run(_SELECT_BALANCE)), key=lambda balance: balance.scope.path)


def entries(
    run: Run, scope: Scope | None = None, after: int = 0, limit: int | None = None
) -> Iterator[Entry]:
    """Entries in order, page by page, of `scope` and everything below it."""
    below = scope.text[:-1] if scope else "["  # the path without its closing bracket
    while limit is None or limit > 0:
        rows = run(
            _SELECT_ENTRY + "WHERE number > ? AND substr(COALESCE(path, '[]'), 1, ?) = ? "
            "ORDER BY number LIMIT ?",
            *(after, len(below), below, PAGE if limit is None else min(PAGE, limit)),
        )
        yield from map(_entry, rows)
        if not rows:
            return
        after, limit = rows[-1][0], None if limit is None else limit - len(rows)


def replay(run: Run, known: Head | None) -> Replay:
    """Walk the whole chain and compare the balances on record with what follows from it."""
    replayed = Replay(known)
    after = -(2**62)  # an entry numbered by hand must not hide below 1
    while rows := run(_SELECT_ENTRY + "WHERE number > ? ORDER BY number LIMIT ?", after, PAGE):
        after = rows[-1][0]
        for row in rows:
            try:
                replayed.add(_entry(row))
            except LedgerCorrupt as error:
                replayed.report(str(error))
    on_record = {row[0]: row[1:] for row in run("SELECT key, path, spent, cap, state FROM scopes")}
    for scope, balance in replayed.balances.items():
        if on_record.pop(scope.key, None) != _balance_row(balance):
            replayed.report(f"the balance of {scope.title} does not follow from the entries.")
    if on_record:
        replayed.report(f"{len(on_record)} scopes on record have no entry.")
    if run(
        "SELECT 1 FROM answers LEFT JOIN entries ON entries.number = answers.entry "
        "WHERE COALESCE(action, '') <> 'charge' LIMIT 1"
    ):
        replayed.report("an answer on record names no charge.")
    return replayed


def store_answer(
    run: Run, scope: Scope, key: str, body: bytes, number: int, *, also: str | None = None
) -> bytes:
    names = {check_key(key): None, **({} if also is None else {check_key(also): None})}
    rows = ", ".join(["(?)"] * len(names))
    made = run(
        "INSERT INTO answers (scope, key, body, entry) "
        f"SELECT ?, names.column1, ?, number FROM entries, (VALUES {rows}) AS names "
        "WHERE number = ? AND action = ? ON CONFLICT (scope, key) DO NOTHING RETURNING key",
        scope.key,
        body,
        *names,
        number,
        str(Action.CHARGE),
    )
    if (key,) in made:
        return body
    if not run("SELECT 1 FROM entries WHERE number = ? AND action = 'charge'", number):
        raise LedgerError(f"entry {number} is not a charge: it pays for no answer.")
    kept = stored_answer(run, scope, key)
    return body if kept is None else kept


def stored_answer(run: Run, scope: Scope, key: str) -> bytes | None:
    rows = run("SELECT body FROM answers WHERE scope = ? AND key = ?", scope.key, key)
    return bytes(rows[0][0]) if rows else None


def paid_answer(run: Run, scope: Scope, number: int) -> bytes | None:
    rows = run("SELECT body FROM answers WHERE scope = ? AND entry = ? LIMIT 1", scope.key, number)
    return bytes(rows[0][0]) if rows else None


def _find_request(run: Run, scope: Scope, request: str) -> Entry | None:
    rows = run(_SELECT_ENTRY + "WHERE scope = ? AND request = ?", scope.key, request)
    return _entry(rows[0]) if rows else None


def _again(
    run: Run,
    first: Entry,
    asked: tuple[Action, Epsilon, str],
    path: list[Balance],
    *,
    lasting: bool,
) -> Entry:
    """The entry that a request made before, if it is the same and may still be made."""
    if (first.action, first.epsilon, first.memo) != asked:
        raise LedgerError(
            f"request {first.request!r} was made before with another epsilon or memo (entry "
            f"{first.number}). Use a new key for a new question. Nothing was charged."
        )
    algebra.require_open(path)
    if not lasting:
        boot.require_this(run, first)
    return first.again()


def _insert(run: Run, entry: Entry, key: str) -> bool:
    """Add an entry, unless there is one of the same request; whether it was added."""
    once = "" if entry.request is None else _ONCE
    made = run(
        "INSERT INTO entries (number, time, action, scope, nano, memo, request, previous, hash) "
        f"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?){once}",
        *(entry.number, entry.time, str(entry.action), key, entry.epsilon.nano),
        *(entry.memo, entry.request, entry.previous, entry.hash),
    )
    return entry.request is None or bool(made)


def _entry(row: tuple[Any, ...]) -> Entry:
    number, time, action, path, nano, memo, request, previous, digest = row
    try:
        scope = json.loads(path)
    except ValueError as error:
        raise LedgerCorrupt(f"entry {number} of the ledger cannot be read.") from error
    fields = {"time": time, "action": action, "scope": scope, "nano": nano, "memo": memo}
    return read_entry(number, **fields, request=request, previous=previous, hash=digest)


def _balance(row: tuple[Any, ...], known: Scope | None = None) -> Balance:
    """A balance on record; `known` is its scope where the path need not be read again."""
    path, spent, cap, state = row
    try:
        scope = known or Scope(tuple(json.loads(path)))
        return Balance(scope, Epsilon(spent), None if cap is None else Epsilon(cap), State(state))
    except (ValueError, TypeError, BocageError) as error:
        raise LedgerCorrupt("a balance of the ledger cannot be read. Verify it.") from error


def _balance_row(balance: Balance) -> tuple[str, int, int | None, str]:
    cap = None if balance.cap is None else balance.cap.nano
    return (balance.scope.text, balance.spent.nano, cap, str(balance.state))
