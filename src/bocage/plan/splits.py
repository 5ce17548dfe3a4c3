"""How one column parts a cell: by all its codes, at a threshold, or one code against the rest.

A split is a column and a number: None for a child per code, a threshold from 1 up for the codes below
it and the others, and a number from -2 down (see `alone`) for one code and all others.
"""

from __future__ import annotations

from bocage.plan.cells import Branch, Cut

Split = tuple[str, int | None]
_FIRST = -2  # stands for code 0; -1 is what arrays of numbers hold for None


def alone(code: int) -> int:
    """The number that stands for one code against the rest: -2 for code 0, -3 for code 1, …"""
    return _FIRST - code


def code_alone(at: int | None) -> int | None:
    """The code that goes to the first child alone, if the split is of that kind."""
    return None if at is None or at > _FIRST else _FIRST - at


def arity_of(at: int | None, cells: int) -> int:
    """How many children a split of a column with so many codes has."""
    return cells if at is None else 2


def node_of(column: str, at: int | None, cells: int) -> Branch | Cut:
    """The split as a node of a router; its children count from 0."""
    code = code_alone(at)
    if code is not None:
        return Branch(column, tuple(int(other != code) for other in range(cells)))
    if at is not None:
        return Cut(column, at, 0, 1)
    return Branch(column, tuple(range(cells)))
