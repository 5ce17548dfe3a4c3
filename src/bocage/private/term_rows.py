"""The rows of an additive fit as the cells of its terms: kept in memory if they are few, else read
again for every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.private.objective import residuals
from bocage.private.terms import Block, Design
from bocage.schema import Schema

Chunk = tuple[NDArray[Any], NDArray[Any]]  # cells of the terms, one line each; labels
Margins = NDArray[np.uint8]  # of the rows of a chunk
MarginsOf = Callable[[Chunk], Margins]
Group = tuple[NDArray[np.int64], int]  # lines of blocks as `margins` has them, and their cells
Floats = NDArray[np.float64]
Parameters = tuple[Floats, Floats]  # of an intercept, and of fine tables
KEEP_BYTES = 2**29
_SPLIT = 24  # bits

S = TypeVar("S")
T = TypeVar("T")


class CellRows:
    """Rows in chunks that fit the compiled loops.

    Parameters
    ----------
    read
        Starts a scan: batches of codes, the columns of the terms first and the label last.
    """

    def __init__(
        self,
        read: Callable[[], Iterator[NDArray[np.uint16]]],
        design: Design,
        schema: Schema,
        *,
        keep_bytes: int = KEEP_BYTES,
    ) -> None:
        self._read, self._design, self._schema = read, design, schema
        self._kept: list[Chunk] | None = []
        self.rows = 0
        held = 0
        for cells, labels in self._scan():
            self.rows += len(labels)
            held += cells.nbytes + labels.nbytes
            if self._kept is not None:
                self._kept.append((cells, labels))
            if held > keep_bytes:
                self._kept = None

    def chunks(self) -> Iterator[Chunk]:
        return iter(self._kept) if self._kept is not None else self._scan()

    def residuals(self, tables: Floats, prior: Floats) -> tuple[NDArray[Any], int]:
        """Exact sums of the rounded residuals, as Python integers, and the number of rows seen."""
        design = self._design
        shape = (design.fine, design.columns)
        high, low = np.zeros(shape, np.int64), np.zeros(shape, np.int64)

        def work(chunk: Chunk) -> tuple[NDArray[np.int64], int]:
            sums = np.zeros(shape, np.int64)
            residuals.add_residuals(*chunk, design.offsets, tables, prior, design.reference, sums)
            return sums, len(chunk[1])

        rows = 0
        for sums, seen in self._each(work, self.chunks()):
            high += sums >> _SPLIT
            low += sums & ((1 << _SPLIT) - 1)
            rows += seen
        return high.astype(object) * (1 << _SPLIT) + low.astype(object), rows

    def curvature(
        self, tables: Floats, prior: Floats, which: list[tuple[int, int]], sample: int
    ) -> Floats:
        """About the second derivatives of the loss, a matrix of fine cells for each pair of columns.

        From about `sample` rows, evenly spread over the table, which may be sorted: it only steers
        the search.
        """
        design = self._design
        pairs = np.array(which, np.int64)
        stride = max(-(-self.rows // sample), 1)
        passed, parts = 0, [np.zeros((len(design.blocks), 0), np.uint8)]
        for cells, _ in self.chunks():
            parts.append(np.ascontiguousarray(cells[:, -passed % stride :: stride]))
            passed += cells.shape[1]
        taken = np.concatenate(parts, axis=1)

        def work(part: NDArray[Any]) -> Floats:
            sums = np.zeros((len(which), design.fine, design.fine))
            residuals.add_curvature(
                np.ascontiguousarray(part),
                design.offsets,
                tables,
                prior,
                design.reference,
                pairs,
                sums,
            )
            return sums

        whole = np.zeros((len(which), design.fine, design.fine))
        for sums in _each(work, iter(np.array_split(taken, workers(), axis=1))):
            whole += sums
        whole += np.tril(whole, -1).transpose(0, 2, 1)
        whole *= self.rows / max(taken.shape[1], 1)
        return whole

    def curved(self, at: Parameters, direction: Parameters) -> Floats:
        """About the second derivatives of the loss times a direction, from all rows."""
        design = self._design
        tables, turns = np.ascontiguousarray(at[1]), np.ascontiguousarray(direction[1])

        def work(chunk: Chunk) -> Floats:
            sums = np.zeros((design.fine, design.columns))
            residuals.add_curved(
                chunk[0], design.offsets, tables, at[0], turns, direction[0], design.reference, sums
            )
            return sums

        whole = np.zeros((design.fine, design.columns))
        for sums in self._each(work, self.chunks()):
            whole += sums
        return whole

    def margins(
        self,
        terms: NDArray[np.int64],
        tables: NDArray[np.int64],
        intercept: NDArray[np.int64],
        steps: NDArray[np.int64],
    ) -> MarginsOf:
        """What finds the margins of the rows of a chunk; see :mod:`bocage.private.objective.margins`."""
        from bocage.private.objective import margins  # noqa: PLC0415 - not every fit needs to compile it

        def margins_of(chunk: Chunk) -> Margins:
            found = np.empty(len(chunk[1]), np.uint8)
            margins.find_margins(*chunk, self._sizes, terms, tables, intercept, steps, found)
            return found

        return margins_of

    def right(
        self, margins_of: MarginsOf, groups: Sequence[Group], corrected: Floats
    ) -> Iterator[Floats]:
        """For each group of blocks, how many rows of each of its cells are right under each change.

        `corrected` is what `margins.corrected` gives. All cores share the groups if there are many and rows are in
        memory, else the chunks, whose margins are found where they are counted: a table may change between two scans.
        """
        from bocage.private.objective import margins  # noqa: PLC0415 - not every fit needs to compile it

        def with_margins(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Margins]]:
            return ((chunk, margins_of(chunk)) for chunk in chunks)

        def work(task: tuple[Group, Iterable[tuple[Chunk, Margins]]]) -> Floats:
            (blocks, cells), parts = task
            counts = np.zeros(cells * len(corrected), np.int32)
            for chunk, found in parts:
                margins.count_margins(chunk[0], found, self._sizes, blocks, len(corrected), counts)
            right = np.zeros((cells, corrected.shape[1]))
            margins.right_rows(counts.reshape(cells, -1), corrected, right)
            return right

        if self._kept is not None and len(groups) > workers():
            every_row = list(with_margins(self._kept))
            yield from _each(work, ((group, every_row) for group in groups))
            return
        for group in groups:
            tasks = ((group, with_margins([chunk])) for chunk in self.chunks())
            yield sum(self._each(work, tasks), np.zeros((group[1], corrected.shape[1])))

    def _each(self, work: Callable[[S], T], chunks: Iterator[S]) -> Iterator[T]:
        """The work on every chunk; a single one is not worth a thread."""
        few = self._kept is not None and len(self._kept) <= 1
        return map(work, chunks) if few else _each(work, chunks)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([block.size for block in self._design.blocks])

    def _scan(self) -> Iterator[Chunk]:
        blocks = self._design.blocks
        lookups = [block.lookup(self._schema) for block in blocks]
        lines = {n: i for i, n in enumerate(dict.fromkeys(n for b in blocks for n in b.columns))}
        narrow = max(block.size for block in self._design.blocks) <= 256
        kind: type[Any] = np.uint8 if narrow else np.uint16
        for batch in self._read():
            for start in range(0, batch.shape[1], residuals.CHUNK):
                codes = batch[:, start : start + residuals.CHUNK]
                cells = np.zeros((len(lookups), codes.shape[1]), kind)
                for cell, block, lookup in zip(cells, blocks, lookups, strict=True):
                    for name, size, table in zip(block.columns, block.cells, lookup, strict=True):
                        residuals.look_up(codes[lines[name]], table, size, cell)
                yield cells, np.ascontiguousarray(codes[-1])


def cells_of(
    read: Callable[[], Iterator[NDArray[np.uint16]]], blocks: tuple[Block, ...], schema: Schema
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """All rows as the cells of single columns, at most 256 of each, and their labels."""
    rows = list(CellRows(read, Design(blocks, 2), schema).chunks())
    none = np.zeros((len(blocks), 0), np.uint8), np.zeros(0, np.uint16)
    cells, labels = (np.concatenate(part, axis=-1) for part in zip(none, *rows, strict=True))
    return cells.astype(np.uint8), labels


def _each(work: Callable[[S], T], chunks: Iterator[S]) -> Iterator[T]:
    """The work on every chunk, on all cores, with few chunks under way at a time."""
    threads = workers()
    with ThreadPoolExecutor(threads) as pool:
        waiting = []
        for chunk in chunks:
            waiting.append(pool.submit(work, chunk))
            if len(waiting) > 2 * threads:
                yield waiting.pop(0).result()
        for one in waiting:
            yield one.result()
