"""What was spent when, by whom, on what: the ledger read for people."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bocage.accounting import Action, Balance, Entry, Ledger, Scope, path_balances, transition
from bocage.schema import Categorical, Schema, number

PAGE, MOST_POINTS = 10_000, 4_000


@dataclass(frozen=True)
class Line:
    """One entry in words."""

    number: int
    time: str
    who: str
    action: str
    what: str
    epsilon: str


class Spending:
    """What tables spent over time. Every entry of the ledger is read once, whoever looks how often."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._read: dict[Scope, _Read] = {}
        self._lock = threading.Lock()

    def over_time(self, table: Scope) -> list[tuple[float, float]]:
        """When spending rose (unix time), and to what; partitions cost their maximum."""
        with self._lock:
            read = self._read.setdefault(table, _Read(table))
            while entries := self._ledger.entries(table, read.last, PAGE):
                for entry in entries:
                    read.add(entry)
            return list(read.found)


@dataclass
class _Read:
    """The entries of one table up to the last that was read."""

    table: Scope
    last: int = 0
    known: dict[Scope, Balance] = field(default_factory=dict)
    found: list[tuple[float, float]] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        path = path_balances(Scope(entry.scope).lineage, self.known)
        for balance in transition(Action(entry.action), path, entry.epsilon):
            self.known[balance.scope] = balance
        self.last = entry.number
        spent = self.known[self.table].spent.nano / 1e9
        if not self.found or spent != self.found[-1][1]:
            self.found.append((datetime.fromisoformat(entry.time).timestamp(), spent))
        if len(self.found) > MOST_POINTS:  # more than a chart has pixels
            self.found = [*self.found[:-1:2], self.found[-1]]


def last_entries(ledger: Ledger, table: Scope, most: int) -> list[Entry]:
    """The last entries of a table, from the end of the ledger backwards."""
    end, width = ledger.head().number, 4 * most
    while True:
        entries = ledger.entries(table, max(0, end - width))
        if len(entries) >= most or width >= end:
            return entries[-most:]
        width *= 4


Schemas = Mapping[str, Schema]  # by the name of a table in the ledger


def lines(entries: Iterable[Entry], schemas: Schemas) -> list[Line]:
    """Entries as sentences, the newest first."""
    told = [
        Line(
            entry.number,
            entry.time,
            entry.scope[1] if len(entry.scope) > 1 else "owner",
            entry.action.value,
            _what(entry, schemas),
            str(entry.epsilon) if entry.epsilon.nano else "",
        )
        for entry in entries
    ]
    return told[::-1]


def to_csv(entries: Iterable[Entry], schemas: Schemas) -> str:
    """All that is on record of some entries, for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["number", "time", "table", "analyst", "action", "epsilon", "what", "memo"])
    for entry in entries:
        who = entry.scope[1] if len(entry.scope) > 1 else ""
        table = entry.scope[0] if entry.scope else ""
        row = [entry.number, entry.time, table, who, entry.action.value, str(entry.epsilon)]
        writer.writerow([_plain(str(value)) for value in (*row, _what(entry, schemas), entry.memo)])
    return out.getvalue()


def _plain(text: str) -> str:
    """A spreadsheet takes such a beginning for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _what(entry: Entry, schemas: Schemas) -> str:
    """The question or the learner of a charge, in a few words."""
    if entry.action is not Action.CHARGE:
        return " / ".join(entry.scope)
    try:
        facts = json.loads(entry.memo)
    except ValueError:
        return entry.memo[:200]
    if not isinstance(facts, dict):
        return entry.memo[:200]
    if "reserve" in facts:  # a learner on some of the rows
        facts = {**json.loads(facts["reserve"]), **facts}
    schema = schemas.get(entry.scope[0])
    names = (schema.encoding, schema.fingerprint) if schema is not None else ()
    known = "schema" not in facts or facts["schema"] in names
    told = _filter(facts.get("where"), schema if known else None)
    where = f" where {told}" if told else ""
    if "learner" in facts:
        return f"learn with {facts['learner']}" + where
    columns = facts.get("columns") or facts.get("column") or facts.get("by") or ""
    named = ", ".join(map(str, columns)) if isinstance(columns, list) else str(columns)
    words = f"{facts.get('ask', 'a question')}{' of ' + named if named else ''}"
    return words + where + (f" ({entry.scope[-1]})" if len(entry.scope) > 2 else "")


def _filter(where: Any, schema: Schema | None) -> str:
    """A filter as the ledger keeps it, in words: codes become values if the schema is known."""
    if isinstance(where, str):
        return where  # of a long one the hash is kept
    if not isinstance(where, dict):
        return ""
    for key, word in (("every", " and "), ("some", " or ")):
        if key in where:
            parts = [_filter(part, schema) for part in where[key]]
            return word.join(f"({part})" if " and " in part or " or " in part else part for part in parts)
    column = where.get("column", "")
    ranges = [[int(low), int(high)] for low, high in where.get("codes", [])]
    if schema is None or column not in schema.by_name:
        return f"{column} in " + ", ".join(f"{low}..{high}" for low, high in ranges)
    attribute = schema[column]
    if isinstance(attribute, Categorical):
        codes = [code for low, high in ranges for code in range(low, high + 1)]
        return f"{column} in ({', '.join(attribute.text(code) for code in codes[:8])}{', …' if len(codes) > 8 else ''})"
    return " or ".join(
        f"{column} from {number(attribute.edge(low))} to {number(attribute.edge(high))}"
        if low < high
        else f"{column} at {number(attribute.edge(low))}"
        for low, high in ranges
    )
