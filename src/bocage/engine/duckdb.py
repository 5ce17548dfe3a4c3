"""The DuckDB engine: Parquet, delimited text and DuckDB files, also larger than memory.

DuckDB reads, decodes and turns text into small integers; batches stream through the same encoders and
compiled loops as a table in memory. A small table is kept as codes while its files do not change.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

from bocage.engine.base import Engine
from bocage.engine.codes.codes import Codes
from bocage.engine.codes.encode import SMALL
from bocage.engine.error_wall import guarded, guarded_each
from bocage.engine.files.version import FAILURES, FileVersion
from bocage.engine.memory import MemoryEngine
from bocage.engine.rows import Matrix, check_listing
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Schema

KEEP_BYTES = 64 * 2**20
_log = logging.getLogger("bocage.engine")


class DuckDBEngine:
    """Counts rows of Parquet files, of a delimited text file, or of a table in a DuckDB file.

    Parameters
    ----------
    paths
        One file, or several Parquet files that are read in this order.
    table
        The table in a DuckDB file.
    keep_bytes
        Tables with fewer bytes of codes are kept in memory while their files do not change.
    small
        As in `MemoryEngine`.
    """

    name = "duckdb"

    def __init__(
        self,
        paths: str | Path | Sequence[str | Path],
        schema: Schema,
        *,
        table: str | None = None,
        keep_bytes: int = KEEP_BYTES,
        small: int = SMALL,
    ) -> None:
        self.schema = schema
        self._paths = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
        self._table, self._keep_bytes, self._small = table, keep_bytes, small
        self._lock = Lock()
        self._opened: FileVersion | None = guarded(self._open, FAILURES, self._cannot_open())
        if self._opened.is_view:
            try:
                self._moment(self._opened)  # as a question would see it
            except EngineError:
                self.close()
                raise

    @property
    def version(self) -> str | None:
        opened = self._now()
        return None if opened.is_view else PinnedFiles(opened).version

    def pin(self) -> Engine:
        opened = self._now()
        return self._moment(opened) if opened.is_view else PinnedFiles(opened)

    def _now(self) -> FileVersion:
        """What stands under the names now."""
        with self._lock:
            if self._opened is None:
                raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
            if self._is_other(self._opened):
                self._opened = self._replaced()
            return self._opened

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        return self.pin().answer(questions)

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from self.pin().rows(question)

    def close(self) -> None:
        with self._lock:
            self._opened = None  # who has pinned it still reads it

    def _is_other(self, opened: FileVersion) -> bool:
        try:
            return FileVersion.stamps_now(self._paths, self._table) != opened.stamps
        except OSError:
            return True

    def _replaced(self) -> FileVersion:
        """The new version; what is wrong with it is for the owner, who opens it again."""
        refused = SourceError(
            f"the source of table {self.schema.name!r} was replaced, and what stands in its place "
            "cannot be opened. Open the table again to learn why."
        )
        try:
            return guarded(self._open, FAILURES, refused)
        except EngineError:
            _log.error("duckdb: a source was replaced by one that is refused.")
        raise refused

    def _moment(self, view: FileVersion) -> Engine:
        """What a view shows now, as codes: nothing tells when its rows change."""
        unreadable = SourceError(
            f"the view of table {self.schema.name!r} cannot be read as it is now: run its query to learn why."
        )
        codes = guarded(view.moment, FAILURES, unreadable)
        return PinnedView(codes, self.schema, self._small)

    def _cannot_open(self) -> SourceError:
        what = f"the table {self._table!r}" if self._table else "rows"
        return SourceError(
            f"{', '.join(map(str, self._paths[:3]))} cannot be opened as {what} of schema "
            f"{self.schema.name!r}. It must exist, be readable and not be locked by a writer, and "
            "hold the declared columns in the format that its name says."
        )

    def _open(self) -> FileVersion:
        return FileVersion(self._paths, self.schema, self._table, self._keep_bytes, self._small)


class PinnedFiles:
    """One version of some files, which nobody can replace."""

    name = "duckdb"

    def __init__(self, opened: FileVersion) -> None:
        self.schema = opened.schema
        self._opened: FileVersion | None = opened

    @property
    def version(self) -> str | None:
        return guarded(lambda: self._version().version, FAILURES, self._unread())

    def pin(self) -> Engine:
        return PinnedFiles(self._version())

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        return guarded(lambda: self._version().answer(questions), FAILURES, self._unread())

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from guarded_each(lambda: self._version().rows(question), FAILURES, self._unread())

    def close(self) -> None:
        self._opened = None

    def _version(self) -> FileVersion:
        if self._opened is None:
            raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
        return self._opened

    def _unread(self) -> EngineError:
        return EngineError(f"table {self.schema.name!r} could not be read. The reason is in the owner's log.")


class PinnedView(MemoryEngine):
    """What a view showed at one moment."""

    name = "duckdb"
    version = None  # the next moment may show the same rows: it is another all the same

    def __init__(self, codes: Codes, schema: Schema, small: int) -> None:
        self.schema, self._small, self._codes = schema, small, codes

    def pin(self) -> Engine:
        return PinnedView(self._open_codes(), self.schema, self._small)
