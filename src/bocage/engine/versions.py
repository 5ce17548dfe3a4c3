"""Proxies of engines: a pin that closes alone, and a version that the owner declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from bocage.engine.base import Engine
from bocage.errors import SourceError
from bocage.plan import Question, Tally


class EngineProxy:
    """An engine that passes everything on to another; subclasses change a part."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.schema, self.name = engine, engine.schema, engine.name

    @property
    def version(self) -> str | None:
        return self._engine.version

    def pin(self) -> Engine:
        return self._engine.pin()

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        return self._engine.answer(questions)

    def rows(self, question: Question) -> Iterator[NDArray[np.uint16]]:
        return self._engine.rows(question)

    def close(self) -> None:
        self._engine.close()


class Pinned(EngineProxy):
    """The pin of an engine whose rows never change. Closing it closes nothing."""

    def pin(self) -> Engine:
        return self

    def close(self) -> None:
        """Leave the engine open: it belongs to whoever opened it."""


class DeclaredVersion(EngineProxy):
    """A table whose owner declares, by a name, that its rows do not change."""

    def __init__(self, engine: Engine, snapshot: str) -> None:
        super().__init__(engine)
        if not snapshot or not snapshot.strip():
            raise SourceError("the name of a declared snapshot is empty. Give it a name.")
        self._snapshot = snapshot

    @property
    def version(self) -> str | None:
        version = self._engine.version
        return version or sha256(b"declared snapshot\n" + self._snapshot.encode()).hexdigest()

    def pin(self) -> Engine:
        return DeclaredVersion(self._engine.pin(), self._snapshot)
