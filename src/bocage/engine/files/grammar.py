"""The grammar of delimited text, checked on whole blocks of bytes at once.

It is that of RFC 4180 with the schema's separator: quotes stand around whole fields only, and a quote
inside is doubled; lines end in LF or CRLF; every record has the same number of fields; the text is
UTF-8 without NUL. An empty line is no record, unless there is one column: then it is an empty field.
Outside this grammar one record could change another, so there are no rows to speak of.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**20
MOST_RECORD = 2**26
SMALL = 2**18  # bytes below which NumPy is faster than loading compiled loops
NAMED = 5  # lines that a refusal names
MARK = b"\xef\xbb\xbf"  # may stand before a text and is no part of it
_LF, _CR, _QUOTE = 10, 13, 34

Bytes = NDArray[np.uint8]
Positions = NDArray[Any]  # integers
_NONE = np.zeros(0, np.intp)


class Readable(Protocol):
    """Bytes in order."""

    def read(self, size: int, /) -> bytes: ...


class BrokenError(Exception):
    """A rule that a piece does not keep, and the first lines of it that do not, counted from 0."""

    def __init__(self, rule: str, lines: list[int]) -> None:
        super().__init__(rule)
        self.rule, self.lines = rule, lines


def pieces(stream: Readable, rest: bytes = b"", *, block: int = BLOCK) -> Iterator[bytes]:
    """The text in pieces that end where a record ends, as far as its quotes say."""
    while more := stream.read(max(block, len(rest))):
        rest += more
        end = _last_end(rest)
        if end == 0 and len(rest) > MOST_RECORD:
            raise BrokenError(
                f"begins a record of more than {MOST_RECORD >> 20} MB, most likely by a quote that is not closed",
                [0],
            )
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def first_end(text: bytes) -> int:
    """Where the first record ends."""
    end = text.find(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:
        end = text.find(b"\n", end) + 1
    return end or len(text)


def _last_end(text: bytes) -> int:
    """Where the last whole record ends; 0 if none does."""
    end = text.rfind(b"\n") + 1
    if end == 0 or text.count(b'"', 0, end) % 2 == 0:
        return end
    octets = np.frombuffer(text, np.uint8)
    ends = _outside(octets, np.flatnonzero(octets == _LF))
    return int(ends[-1]) + 1 if len(ends) else 0


def check(piece: bytes, separator: str, fields: int) -> None:
    """Refuse a piece of whole records that breaks a rule."""
    octets = np.frombuffer(piece, np.uint8)
    if len(piece) > SMALL and b"\0" not in piece and not len(_no_text(piece)):
        from bocage.engine.codes import kernels  # noqa: PLC0415 - small texts load no compiler

        if kernels.well_formed(octets, _transitions(ord(separator)), fields):
            return
    for rule, positions in _broken(piece, octets, separator, fields):
        if len(positions):
            raise BrokenError(rule, _lines(piece, positions))


def _lines(piece: bytes, positions: Positions) -> list[int]:
    """The first lines in which these positions stand, one more than a refusal names."""
    lines: list[int] = []
    line = before = 0
    for position in positions.tolist():
        line, before = line + piece.count(b"\n", before, position), position
        if line not in lines[-1:]:
            lines.append(line)
        if len(lines) > NAMED:
            break
    return lines


def _broken(piece: bytes, octets: Bytes, separator: str, fields: int) -> Iterator[tuple[str, Positions]]:
    """Rules and where they are broken, each only asked for if those before it are kept."""
    yield "holds a NUL character", _nul(piece)
    yield "is not UTF-8", _no_text(piece)
    yield "has a quote that does not stand around a whole field", _stray(octets, piece, separator)
    yield "opens a quote that is not closed", _unclosed(octets, piece)
    yield "has a carriage return that ends no line", _bare(octets, piece)
    yield f"does not have {fields} field{'s' * (fields != 1)}", _uneven(octets, separator, fields)


@cache
def _transitions(separator: int) -> NDArray[np.int64]:
    """The grammar as an automaton: the next state for each state and byte.

    0 before a line, 1 after a separator, 2 in a field without quotes, 3 in quotes, 4 after a quote
    in quotes, 5 after a carriage return, 6 after one on an empty line, 7 broken for good.
    """
    after = np.full((8, 256), 7)
    after[:3] = 2
    after[3] = 3
    after[:2, _QUOTE], after[2, _QUOTE], after[3, _QUOTE], after[4, _QUOTE] = 3, 7, 4, 3
    after[[1, 2, 4], _CR], after[0, _CR] = 5, 6
    after[[0, 1, 2, 4, 5, 6], _LF] = 0
    after[[0, 1, 2, 4], separator] = 1
    return after


def _nul(piece: bytes) -> Positions:
    return np.array([piece.index(b"\0")], np.intp) if b"\0" in piece else _NONE


def _no_text(piece: bytes) -> Positions:
    if piece.isascii():
        return _NONE
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        return np.array([error.start], np.intp)
    return _NONE


def _unclosed(octets: Bytes, piece: bytes) -> Positions:
    if piece.count(b'"') % 2 == 0:
        return _NONE
    quotes: Positions = np.flatnonzero(octets == _QUOTE)
    return quotes[-1:]


def _stray(octets: Bytes, piece: bytes, separator: str) -> Positions:
    if b'"' not in piece:
        return _NONE
    quotes: Positions = np.flatnonzero(octets == _QUOTE)
    # Every second quote opens. Outside quotes stand no others, so its neighbor is what it seems.
    opens, closes, last = quotes[::2], quotes[1::2], len(octets) - 1
    before, after = octets[np.maximum(opens - 1, 0)], octets[np.minimum(closes + 1, last)]
    good = (opens == 0) | _is_one_of(before, (ord(separator), _LF, _QUOTE))
    good[: len(closes)] &= (closes == last) | _is_one_of(after, (ord(separator), _LF, _CR, _QUOTE))
    bad: Positions = opens[~good]
    return bad


def _is_one_of(octets: Bytes, letters: tuple[int, ...]) -> NDArray[np.bool_]:
    good: NDArray[np.bool_] = np.logical_or.reduce([octets == letter for letter in letters])
    return good


def _bare(octets: Bytes, piece: bytes) -> Positions:
    if b"\r" not in piece:
        return _NONE
    returns, last = _outside(octets, np.flatnonzero(octets == _CR)), len(octets) - 1
    bare: Positions = returns[(returns == last) | (octets[np.minimum(returns + 1, last)] != _LF)]
    return bare


def _uneven(octets: Bytes, separator: str, fields: int) -> Positions:
    """Where lines begin that have another number of fields."""
    marks = _outside(octets, np.flatnonzero((octets == ord(separator)) | (octets == _LF)))
    at = np.flatnonzero(octets[marks] == _LF)
    ends = marks[at]
    if len(octets) and octets[-1] != _LF:  # the last line of a text may lack its end
        at, ends = np.append(at, len(marks)), np.append(ends, len(octets))
    held = np.diff(at, prepend=-1)  # separators and the end: as many as fields
    bad = np.flatnonzero(held != fields)
    begins: Positions = np.where(bad > 0, ends[bad - 1] + 1, 0)
    lengths = ends[bad] - begins
    empty = (lengths == 0) | ((lengths == 1) & (octets[np.minimum(begins, len(octets) - 1)] == _CR))
    return begins if fields == 1 else begins[~empty]


def _outside(octets: Bytes, positions: Positions) -> Positions:
    """The positions that do not stand inside quotes; `octets` begins outside."""
    quoted = octets == _QUOTE
    if not quoted.any():
        return positions
    outside: Positions = positions[np.cumsum(quoted, dtype=np.uint8)[positions] & 1 == 0]
    return outside
