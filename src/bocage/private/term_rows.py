"""Rows as the cells of terms, in chunks: kept in memory if they are few, else read again for every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.engine.codes.kernels import compiled
from bocage.private.terms import Block, Design
from bocage.schema import Schema

Chunk = tuple[NDArray[Any], NDArray[Any]]  # cells of the terms, one line each; labels
KEEP_BYTES = 2**29
CHUNK = 2**15  # rows

S = TypeVar("S")
T = TypeVar("T")


@compiled
def _look_up(codes: Any, table: Any, size: Any, cells: Any) -> None:
    """Make cells of fewer columns cells of one more: each column is a digit."""
    for i in range(len(codes)):
        cells[i] = cells[i] * size + table[codes[i]]


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

    def _each(self, work: Callable[[S], T], chunks: Iterator[S]) -> Iterator[T]:
        """The work on every chunk; a single one is not worth a thread."""
        few = self._kept is not None and len(self._kept) <= 1
        return map(work, chunks) if few else on_all_cores(work, chunks)

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
            for start in range(0, batch.shape[1], CHUNK):
                codes = batch[:, start : start + CHUNK]
                cells = np.zeros((len(lookups), codes.shape[1]), kind)
                for cell, block, lookup in zip(cells, blocks, lookups, strict=True):
                    for name, size, table in zip(block.columns, block.cells, lookup, strict=True):
                        _look_up(codes[lines[name]], table, size, cell)
                yield cells, np.ascontiguousarray(codes[-1])


def cells_of(
    read: Callable[[], Iterator[NDArray[np.uint16]]], blocks: tuple[Block, ...], schema: Schema
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """All rows as the cells of single columns, at most 256 of each, and their labels."""
    rows = list(CellRows(read, Design(blocks, 2), schema).chunks())
    none = np.zeros((len(blocks), 0), np.uint8), np.zeros(0, np.uint16)
    cells, labels = (np.concatenate(part, axis=-1) for part in zip(none, *rows, strict=True))
    return cells.astype(np.uint8), labels


def on_all_cores(work: Callable[[S], T], chunks: Iterator[S]) -> Iterator[T]:
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
