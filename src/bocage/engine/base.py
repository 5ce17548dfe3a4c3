"""The contract of an engine: exact integers from rows, the same on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bocage.plan import Question, Tally
from bocage.schema import Schema


class Engine(Protocol):
    """Counts rows of one table whose codes are defined by a schema.

    A row belongs to the table if none of its columns sends it to DROP. `answer` looks at one
    snapshot of the table and scans it once for all questions. Whatever goes wrong is raised as
    `EngineError` without a datum in its message; what a row contains never raises.
    """

    schema: Schema
    name: str

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        """The exact tally of each question, all from the same rows."""

    def close(self) -> None:
        """Release files, connections and memory."""
