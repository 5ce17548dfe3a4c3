"""Codes in memory: two matrices of small integers, and how batches get there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bocage.engine.codes.encode import Array, ColumnEncoder, Flags
from bocage.schema import Schema


@dataclass(frozen=True)
class Codes:
    """Codes of some columns, in two matrices with one row per column.

    Attributes
    ----------
    narrow, wide
        Columns of at most 256 codes (uint8), and the others (uint16).
    index
        The number of each column: its row in `narrow`, then in `wide`.
    rows
        How many positions are filled.
    """

    narrow: NDArray[np.uint8]
    wide: NDArray[np.uint16]
    index: Mapping[str, int]
    rows: int

    def column(self, name: str) -> Array:
        number = self.index[name]
        if number < len(self.narrow):
            return self.narrow[number, : self.rows]
        return self.wide[number - len(self.narrow), : self.rows]


class Encoder:
    """Encodes batches of the columns in `encoders`, narrow columns first."""

    def __init__(self, schema: Schema, encoders: Mapping[str, ColumnEncoder]) -> None:
        names = sorted(encoders, key=lambda name: schema[name].cells > 256)
        self.encoders = {name: encoders[name] for name in names}
        self.index = {name: number for number, name in enumerate(names)}
        self.wide = sum(schema[name].cells > 256 for name in names)
        self.row_bytes = len(names) + self.wide

    def room(self, rows: int) -> Codes:
        """Codes with room for this many rows, not filled."""
        narrow = np.empty((len(self.index) - self.wide, rows), np.uint8)
        return Codes(narrow, np.empty((self.wide, rows), np.uint16), self.index, rows)

    def fill(self, columns: Mapping[str, pa.Array], codes: Codes, start: int, stop: int) -> Flags:
        """Write the codes of one batch to positions start..stop; say which rows are dropped."""
        dropped = np.zeros(stop - start, np.bool_)
        for name, encode in self.encoders.items():
            encode(columns[name], codes.column(name)[start:stop], dropped)
        return dropped

    def encode(self, columns: Mapping[str, pa.Array], rows: int) -> Codes:
        """The codes of one batch, without the dropped rows."""
        codes = self.room(rows)
        return without(codes, self.fill(columns, codes, 0, rows))


def without(codes: Codes, dropped: Flags) -> Codes:
    """Close the gaps of dropped rows in place, keeping the order."""
    if not dropped.any():
        return codes
    kept = np.flatnonzero(~dropped)
    for matrix in (codes.narrow, codes.wide):
        for row in matrix:
            row[: len(kept)] = row[kept]
    return Codes(codes.narrow, codes.wide, codes.index, len(kept))


def digest(codes: Codes) -> str:
    """A hash of the codes, column by column, and of the columns' names and order."""
    names = sorted(codes.index, key=codes.index.__getitem__)
    hashed = sha256(repr((names, len(codes.narrow), codes.rows)).encode())
    for name in names:
        hashed.update(codes.column(name).data)
    return hashed.hexdigest()
