"""Delimited text as columns of text: checked as a whole when opened, then read piece by piece.

The pass that checks remembers where records end, and reading keeps to these pieces.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import pyarrow as pa
import pyarrow.csv as pc

from bocage.engine.codes.counting import workers
from bocage.engine.files import grammar
from bocage.errors import SourceError
from bocage.schema import Layout

_AHEAD = 4  # pieces at which work begins before they are asked for
Result = TypeVar("Result")
Stream = BinaryIO | gzip.GzipFile


@dataclass(frozen=True)
class Text:
    """A checked text: the names of its columns, where its records begin, and sizes of its pieces."""

    path: str
    zipped: bool
    separator: str
    names: tuple[str, ...]
    start: int
    sizes: tuple[int, ...]

    def reader(self, fields: Sequence[int]) -> pa.RecordBatchReader:
        """These columns as texts ``c0``, ``c1``, ...; a field that is empty without quotes is NULL."""
        chosen = [f"c{number}" for number in fields]
        schema = pa.schema([(name, pa.string()) for name in chosen])
        return pa.RecordBatchReader.from_batches(schema, self._batches(chosen))

    def _batches(self, chosen: list[str]) -> Iterator[pa.RecordBatch]:
        parse = _Parse([f"c{number}" for number in range(len(self.names))], chosen, self.separator)
        with _opened(self.path, zipped=self.zipped) as stream:
            stream.seek(self.start)
            for table in _ahead(parse, self._pieces(stream)):
                yield from table.to_batches()

    def _pieces(self, stream: Stream) -> Iterator[bytes]:
        for size in self.sizes:
            piece = stream.read(size)
            if len(piece) < size:
                raise OSError("a text became shorter while it was read")
            yield piece


def _ahead(work: Callable[[bytes], Result], pieces: Iterator[bytes]) -> Iterator[Result]:
    """What is made of each piece, in their order, some of them before they are asked for."""
    waiting: deque[Future[Result]] = deque()
    broken: grammar.BrokenError | None = None
    with ThreadPoolExecutor(workers()) as pool:
        try:
            for piece in pieces:
                waiting.append(pool.submit(work, piece))
                if len(waiting) > _AHEAD:
                    yield waiting.popleft().result()
        except grammar.BrokenError as error:
            broken = error  # what stands before it comes first
        while waiting:
            yield waiting.popleft().result()
    if broken is not None:
        raise broken


class _Parse:
    """From a piece of whole records to some of its columns."""

    def __init__(self, names: list[str], chosen: list[str], separator: str) -> None:
        self._names, self._chosen = names, chosen
        self._parsing = pc.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1)
        self._converting = pc.ConvertOptions(
            check_utf8=False,  # the whole text was checked
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=chosen,
        )

    def __call__(self, piece: bytes) -> pa.Table:
        if len(self._names) > 1 and not piece.strip(b"\r\n"):
            return pa.table({name: pa.array([], pa.string()) for name in self._chosen})
        if piece.startswith(grammar.MARK):
            piece = grammar.MARK + piece  # Arrow leaves one out before any text
        if not piece.endswith(b"\n"):
            piece += b"\n"  # Arrow takes the last empty field of a text for a quoted one
        # As one block: where Arrow cuts a text itself, it may take a quoted line break apart.
        reading = pc.ReadOptions(use_threads=False, block_size=len(piece) + 1, column_names=self._names)
        return pc.read_csv(pa.BufferReader(piece), reading, self._parsing, self._converting)


def open_text(path: str, shown: Path, layout: Layout) -> Text:
    """Check a text from its first byte to its last; refuse what breaks the grammar, with the lines.

    It is read under the name `path` and called `shown`.
    """
    if not layout.separator.isascii():
        raise SourceError(f"the separator {layout.separator!r} is not ASCII. Use another.")
    check = _Check(layout)
    broken: grammar.BrokenError
    zipped = shown.suffix == ".gz"
    try:
        with _opened(path, zipped=zipped) as stream:
            check.run(stream)
        sizes, names = tuple(check.sizes), tuple(check.names)
        return Text(path, zipped, layout.separator, names, check.start, sizes)
    except grammar.BrokenError as error:
        broken = error
    lines = [str(check.line + line + 1) for line in broken.lines[: grammar.NAMED]]
    more = " and more" if len(broken.lines) > len(lines) else ""
    raise SourceError(
        f"{shown} cannot be read row by row: line {', '.join(lines)}{more} {broken.rule}. Write it "
        "anew as CSV (a field with a quote, a separator or a line break in quotes, a quote inside "
        "doubled, every line with all fields, in UTF-8), or as Parquet."
    )


class _Check:
    """One pass over a text: where its records begin, its pieces and the names of its columns."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.names = list(layout.columns)
        self.start = 0
        self.sizes: list[int] = []
        self.line = 0  # how many lines stand before what is being checked

    def run(self, stream: Stream) -> None:
        first = stream.read(len(grammar.MARK))
        if first == grammar.MARK:
            self.start, first = len(first), b""
        for size, lines in _ahead(self._checked, self._records(stream, first)):
            self.sizes.append(size)
            self.line += lines

    def _checked(self, records: bytes) -> tuple[int, int]:
        grammar.check(records, self._layout.separator, len(self.names))
        return len(records), records.count(b"\n")

    def _records(self, stream: Stream, first: bytes) -> Iterator[bytes]:
        header = self._layout.header
        for piece in grammar.pieces(stream, first):
            yield piece[self._header(piece) :] if header else piece
            header = False

    def _header(self, piece: bytes) -> int:
        end = grammar.first_end(piece)
        text = piece[:end].decode(errors="replace")
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=self._layout.separator), [])
        if not names:
            raise SourceError("a text file needs a first line that names its columns.")
        grammar.check(piece[:end], self._layout.separator, len(self.names or names))
        if not self.names:
            strip = self._layout.strip
            self.names = [name.strip(" \t") if strip else name for name in names]
        self.start += end
        self.line += piece.count(b"\n", 0, end)
        return end


def _opened(path: str, *, zipped: bool) -> Stream:
    plain = open(path, "rb")  # noqa: PTH123, SIM115 - the name of a held file; its reader closes it
    return _Unzipped(plain) if zipped else plain


class _Unzipped(gzip.GzipFile):
    """Closes the file that it unzips."""

    def __init__(self, plain: BinaryIO) -> None:
        super().__init__(fileobj=plain, mode="rb")
        self._plain = plain

    def close(self) -> None:
        super().close()
        self._plain.close()
