"""The rows of an additive fit as the cells of its terms: kept in memory if they are few, else read
again for every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.engine.counting import workers
from bocage.private import residuals
from bocage.private.design import Design
from bocage.schema import Schema

Chunk = tuple[NDArray[Any], NDArray[Any]]  # cells of the terms, one line each; labels
Floats = NDArray[np.float64]
KEEP_BYTES = 2**29
_SPLIT = 24  # bits


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
        few = self._kept is not None and len(self._kept) <= 1  # not worth a thread
        for sums, seen in map(work, self.chunks()) if few else _each(work, self.chunks()):
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
        whole = np.zeros((len(which), design.fine, design.fine))
        pairs = np.array(which, np.int64)
        stride = max(-(-self.rows // sample), 1)
        passed = seen = 0
        for cells, _ in self.chunks():
            taken = np.ascontiguousarray(cells[:, -passed % stride :: stride])
            residuals.add_curvature(
                taken, design.offsets, tables, prior, design.reference, pairs, whole
            )
            passed += cells.shape[1]
            seen += taken.shape[1]
        lower = np.tril(whole, -1)
        return (whole + lower.transpose(0, 2, 1)) * (self.rows / max(seen, 1))

    def _scan(self) -> Iterator[Chunk]:
        blocks = self._design.blocks
        lookups = [block.lookup(self._schema) for block in blocks]
        lines = {n: i for i, n in enumerate(dict.fromkeys(n for b in blocks for n in b.columns))}
        narrow = max(block.size for block in self._design.blocks) <= 256
        kind: type[Any] = np.uint8 if narrow else np.uint16
        for batch in self._read():
            for start in range(0, batch.shape[1], residuals.CHUNK):
                codes = batch[:, start : start + residuals.CHUNK]
                cells = np.empty((len(lookups), codes.shape[1]), kind)
                for at, (block, lookup) in enumerate(zip(blocks, lookups, strict=True)):
                    cell: Any = 0
                    for name, size, table in zip(block.columns, block.cells, lookup, strict=True):
                        cell = cell * size + table[codes[lines[name]]]
                    cells[at] = cell
                yield cells, np.ascontiguousarray(codes[-1])


def _each(
    work: Callable[[Chunk], tuple[NDArray[np.int64], int]], chunks: Iterator[Chunk]
) -> Iterator[tuple[NDArray[np.int64], int]]:
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
