"""Which points a point system may give the cells of a column: public, and few."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from bocage.schema import Attribute, Categorical

Points = tuple[int, ...]  # of each cell of a column

MOST = 2  # points of a cell
_SUBSETS, _EVERY = 5, 4  # values up to which any set of them may have points; any points


def patterns_of(column: Attribute, cells: int, *, rich: bool = False) -> tuple[Points, ...]:
    """The patterns of a column that is cut to so many cells.

    Of two cells one has a point, or two if patterns are rich. Three values have 0, 1 and 2 points in any order;
    of more values any set has two points, from six on a single one or all others. A numeric column has
    two points from one of its cells on, or up to it. With every pattern there is the one that gives the points
    that it withholds.
    """
    if cells < 2:
        return ()
    if cells == 2:
        return ((0, 1), (1, 0)) + (((0, 2), (2, 0)) if rich else ())
    if not isinstance(column, Categorical):
        found = {tuple(MOST * (i >= start) for i in range(cells)) for start in range(1, cells)}
        if rich:
            found.add(tuple(round(MOST * i / (cells - 1)) for i in range(cells)))
    elif rich and cells <= _EVERY:
        found = {
            p for p in product(range(MOST + 1), repeat=cells) if min(p) == 0 and max(p) == MOST
        }
    elif cells == MOST + 1:
        found = set(permutations(range(MOST + 1)))
    elif cells <= _SUBSETS:
        found = {p for p in product((0, MOST), repeat=cells) if len(set(p)) > 1}
    else:
        found = {tuple(MOST * (i == value) for i in range(cells)) for value in range(cells)}
    return tuple(sorted(found | {tuple(MOST - point for point in one) for one in found}))


def top_of(patterns: Sequence[Points]) -> int:
    """The most points that one of the patterns gives a cell."""
    return max(map(max, patterns))
