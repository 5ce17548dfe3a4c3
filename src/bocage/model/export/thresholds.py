"""Where the codes of a numeric column change, as doubles: comparisons instead of arithmetic."""

from __future__ import annotations

import struct

from bocage.schema import Numeric


def threshold(column: Numeric, code: int) -> float:
    """The smallest double whose code is `code` or more.

    Codes rise with the number, so ``code_of(x) < code`` and ``x < threshold(column, code)`` are the same
    for every double, rounding included. An export that compares needs none of the arithmetic.
    """
    low, high = _position(float(column.lower)), _position(float(column.upper))
    while low < high:
        middle = (low + high) // 2
        if column.cell_of(_double(middle)) >= code:
            high = middle
        else:
            low = middle + 1
    return _double(low) + 0.0  # and no negative zero


def _position(x: float) -> int:
    """The place of a double in the order of all doubles."""
    (bits,) = struct.unpack("<q", struct.pack("<d", x))
    return int(bits) if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _double(position: int) -> float:
    bits = position if position >= 0 else (-position) | (1 << 63)
    (x,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(x)
