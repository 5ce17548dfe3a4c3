"""What was spent when, by whom, on what: the ledger read for people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bocage.accounting import Balance, Entry, Ledger, Scope, algebra
from bocage.accounting.algebra import Action


@dataclass(frozen=True)
class Line:
    """One entry in words."""

    number: int
    time: str
    who: str
    action: str
    what: str
    epsilon: str


def spent_over_time(ledger: Ledger, scope: Scope) -> list[tuple[float, float]]:
    """When a scope's spending rose (unix time), and to what; partitions cost their maximum."""
    known: dict[Scope, Balance] = {}
    found: list[tuple[float, float]] = []
    for entry in ledger.entries(Scope.table(scope.path[0])):
        path = algebra.line(Scope(entry.scope).lineage, known)
        for balance in algebra.transition(Action(entry.action), path, entry.epsilon):
            known[balance.scope] = balance
        here = known.get(scope)
        spent = 0.0 if here is None else here.spent.nano / 1e9
        if not found or spent != found[-1][1]:
            found.append((datetime.fromisoformat(entry.time).timestamp(), spent))
    return found


def lines(entries: Iterable[Entry]) -> list[Line]:
    """Entries as sentences, the newest first."""
    told = [
        Line(
            entry.number,
            entry.time,
            entry.scope[1] if len(entry.scope) > 1 else "owner",
            entry.action.value,
            _what(entry),
            str(entry.epsilon) if entry.epsilon.nano else "",
        )
        for entry in entries
    ]
    return told[::-1]


def to_csv(entries: Iterable[Entry]) -> str:
    """All that is on record of some entries, for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["number", "time", "table", "analyst", "action", "epsilon", "what", "memo"])
    for entry in entries:
        who = entry.scope[1] if len(entry.scope) > 1 else ""
        table = entry.scope[0] if entry.scope else ""
        row = [entry.number, entry.time, table, who, entry.action.value, str(entry.epsilon)]
        writer.writerow([_plain(str(value)) for value in (*row, _what(entry), entry.memo)])
    return out.getvalue()


def _plain(text: str) -> str:
    """A spreadsheet takes such a beginning for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _what(entry: Entry) -> str:
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
    if "learner" in facts:
        return f"learn with {facts['learner']}" + _where(facts)
    columns = facts.get("columns") or facts.get("column") or facts.get("by") or ""
    named = ", ".join(map(str, columns)) if isinstance(columns, list) else str(columns)
    words = f"{facts.get('ask', 'a question')}{' of ' + named if named else ''}"
    return words + _where(facts) + (f" ({entry.scope[-1]})" if len(entry.scope) > 2 else "")


def _where(facts: dict[str, object]) -> str:
    where = facts.get("where")
    return f" where {where}" if isinstance(where, str) and where else ""
