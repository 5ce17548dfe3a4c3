"""Plans and questions of a request, at the table that they are about."""

from __future__ import annotations

from collections.abc import Sequence

from bocage.private import Answer, PrivateTable
from bocage.private.steps import FindModel, Rows, follow
from bocage.service.core import documents as wire

__all__ = ["FindModel", "Rows", "ask", "resolve"]


def resolve(table: PrivateTable, steps: Sequence[wire.Step], find_model: FindModel) -> Rows:
    """Walk the steps from a table. No row is touched."""
    return follow(table, (step.form for step in steps), find_model)


def ask(rows: Rows, question: wire.Ask, *, fresh: bool) -> Answer:
    """Ask one question at a place."""
    answer: Answer = getattr(rows, question.kind)(**question.arguments, fresh=fresh)
    return answer
