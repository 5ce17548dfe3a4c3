"""The contract of an engine: exact integers from rows, the same on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bocage.plan import Question, Tally
from bocage.schema import Schema


class Engine(Protocol):
    """Counts rows of one table whose codes are defined by a schema.

    A row belongs to the table if none of its columns sends it to DROP, and what it counts depends
    on this row alone. `answer` looks at one moment of the table and scans it once for all
    questions. Whatever goes wrong is raised as `EngineError` without a datum in its message; what a
    row contains never raises.
    """

    schema: Schema
    name: str

    @property
    def version(self) -> str | None:
        """A digest of the rows' source, or None where it can change at any moment.

        Private: it follows from the rows. Equal versions mean equal rows.
        """

    def pin(self) -> Engine:
        """An engine that answers all its life from the rows of this moment.

        A source that was replaced is opened anew, or refused with `SourceError`. Closing what is
        returned lets go of the moment and leaves this engine open.
        """

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        """The exact tally of each question, all from the same rows."""

    def rows(self, question: Question) -> Iterator[NDArray[np.uint16]]:
        """The codes of the question's columns, one line each, in batches of bounded size.

        Only the rows that pass the filter, from one moment. For a fit that reads rows again and
        again; what it releases may not depend on their order.
        """

    def close(self) -> None:
        """Release files, connections and memory."""
