"""Whether a chain of entries is whole, and whether the balances follow from it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocage.accounting.algebra import Action, Balance, path_balances, transition
from bocage.accounting.declaration import Declaration
from bocage.accounting.entry import BEFORE_ALL, VERSION, Entry, read_entry
from bocage.accounting.scope import Scope
from bocage.errors import LedgerCorrupt, LedgerError

FORMAT = "bocage-ledger"
MOST_PROBLEMS = 20


@dataclass(frozen=True)
class Head:
    """Number and hash of a last entry: enough to recognize everything before it."""

    number: int
    hash: str


@dataclass(frozen=True)
class Verification:
    """What a verification found. No problems means that the chain is whole.

    The chain carries no secret: whoever can rewrite the database can write another consistent one,
    or cut off its end together with the head. That is seen only against a head known from before,
    such as an export kept elsewhere.
    """

    head: Head
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


class Replay:
    """Walk the entries in order; recompute every hash and every balance."""

    def __init__(self, known: Head | None = None) -> None:
        self.head = Head(0, BEFORE_ALL)
        self.balances: dict[Scope, Balance] = {}
        self.problems: list[str] = []
        self._declared: dict[tuple[str, ...], Declaration] = {}
        self._known = known

    def report(self, problem: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def add(self, entry: Entry) -> None:
        number = entry.number
        if number != self.head.number + 1:
            self.report(f"entry {number} follows entry {self.head.number}.")
        if entry.previous != self.head.hash:
            self.report(f"entry {number} does not continue the entry before it.")
        if entry.hash != entry.digest:
            self.report(f"entry {number} was changed after it was written.")
        if (entry.action is Action.CREATE) != (number == 1):
            self.report(f"entry {number} has no business as {entry.action!s}.")
        elif (entry.action is Action.MOVE) != (entry.scope == () and number != 1):
            self.report(f"entry {number} names no scope.")
        elif entry.action not in {Action.CREATE, Action.MOVE}:
            self._apply(entry)
        self.head = Head(number, entry.hash)
        if self._known and self._known.number == number and self._known.hash != entry.hash:
            self.report(f"entry {number} is not the one that was known before.")

    def _apply(self, entry: Entry) -> None:
        try:
            path = path_balances(Scope(entry.scope).lineage, self.balances)
            changed = transition(entry.action, path, entry.epsilon)
            if entry.action is Action.DECLARE:
                self._declare(entry)
        except LedgerError as error:
            self.report(f"entry {entry.number} could not have been accepted: {error}")
            return
        self.balances.update({balance.scope: balance for balance in changed})

    def _declare(self, entry: Entry) -> None:
        terms = Declaration.read(entry.memo)
        before = self._declared.setdefault(entry.scope, terms)
        before.require_same(terms, Scope(entry.scope).title)

    def finish(self, head: Head) -> Verification:
        """Compare with the head on record."""
        if head != self.head:
            self.report(f"the head names entry {head.number}, the chain ends at {self.head.number}.")
        if self._known and self._known.number > self.head.number:
            self.report(f"entry {self._known.number}, known before, is missing.")
        return Verification(self.head, tuple(self.problems))


def export_lines(entries: Iterable[Entry], head: Head) -> Iterator[str]:
    """The lines of an export: a header, then one entry each."""
    header = {"format": FORMAT, "version": VERSION, "entries": head.number, "head": head.hash}
    yield json.dumps(header, separators=(",", ":")) + "\n"
    for entry in entries:
        yield entry.line() + "\n"


def verify_export(path: str | Path, known: Head | None = None) -> Verification:
    """Verify an exported file by itself."""
    replay = Replay(known)
    with Path(path).open(encoding="utf-8") as lines:
        head = _read_header(next(lines, ""))
        for number, text in enumerate(lines, start=1):
            try:
                replay.add(read_entry(**_read_object(text)))
            except (LedgerCorrupt, ValueError, TypeError):
                replay.report(f"entry {number} cannot be read.")
    return replay.finish(head)


def export_head(path: str | os.PathLike[str]) -> Head:
    """The head that an export was written with."""
    with Path(path).open(encoding="utf-8") as lines:
        return _read_header(next(lines, ""))


def _read_header(text: str) -> Head:
    try:
        header = _read_object(text)
        exported = header["format"] == FORMAT
        version, head = int(header["version"]), Head(int(header["entries"]), str(header["head"]))
    except (KeyError, ValueError, TypeError) as error:
        raise LedgerError("the file is not an exported ledger.") from error
    if not exported:
        raise LedgerError("the file is not an exported ledger.")
    if version > VERSION:
        raise LedgerError(f"the export was written by a newer Bocage (format {version}). Upgrade.")
    return head


def _read_object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError("a line of an export is a JSON object")
    return value
