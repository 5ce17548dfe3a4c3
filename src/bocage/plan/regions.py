"""The identity of sets of rows: which points of the schema's grid a filter lets through.

Two filters that accept the same points have one identity, however they are written. It is that of an
ordered decision diagram: columns are tested in the order of the schema, codes that lead to the same
place are merged, and a test that decides nothing is left out. Such a diagram is unique for its set
(Bryant 1986).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bocage.errors import PlanError
from bocage.plan.cells import OUTSIDE, Branch, Cells, Cut
from bocage.plan.predicate import ALWAYS, Bound, Every, Ranges, Some, Test, ranges, to_json
from bocage.schema import Schema

MOST_PATHS = 2**12  # that lead to one cell of a router
MOST_STEPS = 2**17  # that diagrams may take, beside a few for each region
MOST_COLUMNS = 400  # that diagrams may test
_NOTHING, _ALL = 0, 1
_Runs = tuple[tuple[int, int], ...]  # the last code of each run, and where it leads


@dataclass(frozen=True)
class Geometry:
    """The disjoint regions of a partition.

    Attributes
    ----------
    name
        A digest of the set of regions: partitions with the same regions have the same name.
    numbers
        For each cell the number of its region, in the order of their first points on the grid.
        None for a cell that no row can be in.
    """

    name: str
    numbers: tuple[int | None, ...]


def geometry_of(schema: Schema, wheres: Sequence[Bound]) -> Geometry:
    """The identity of disjoint sets of rows, each given by a filter.

    Filters whose diagrams would be too large keep the identity of their text. The same regions then
    may have two names, but never two sets of regions one name.

    Privacy
    -------
    The name and a number determine the points of the grid. So two parts that can share a row are
    the same part of the same partition, or parts of different partitions.
    """
    try:
        diagrams = _Diagrams(schema, wheres)
        roots = [diagrams.of(where) for where in wheres]
    except _TooLarge:
        written = json.dumps([to_json(where) for where in wheres], sort_keys=True)
        name = hashlib.sha256(f"written {written}".encode()).hexdigest()
        return Geometry(name, tuple(range(len(wheres))))
    first = {root: diagrams.first_point(root) for root in roots if root != _NOTHING}
    numbers = {root: i for i, root in enumerate(sorted(first, key=first.__getitem__))}
    digest = hashlib.sha256(b"regions ")
    for root in numbers:
        digest.update(diagrams.digest(root))
    return Geometry(digest.hexdigest(), tuple(map(numbers.get, roots)))


def filters_of(cells: Cells, schema: Schema) -> list[Bound]:
    """For each cell of a router the filter that lets through just its rows."""
    if not cells.nodes:
        return [ALWAYS]
    paths: list[list[tuple[Test, ...]]] = [[] for _ in range(cells.count)]
    arriving: dict[int, list[tuple[Test, ...]]] = {0: [()]}
    for index, node in enumerate(cells.nodes):
        before = arriving.pop(index, [])
        for target, codes in _exits(node, schema):
            step = Test(node.column, codes)
            into = arriving.setdefault(target, []) if target >= 0 else paths[~target]
            into.extend((*path, step) for path in before)
            if len(into) > MOST_PATHS:
                raise PlanError(
                    f"more than {MOST_PATHS} ways lead to one part of this partition. "
                    "Partition by fewer columns, or by a smaller tree."
                )
    return [_joined(Some, [_joined(Every, path) for path in of_cell]) for of_cell in paths]


def both(first: Bound, second: Bound) -> Bound:
    """Both filters hold; flat, so that a long chain of filters does not nest."""
    flat = [part for where in (first, second) for part in (where.parts if isinstance(where, Every) else (where,))]
    return _joined(Every, flat)


def _joined(kind: type[Every | Some], parts: Sequence[Bound]) -> Bound:
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


def _exits(node: Branch | Cut, schema: Schema) -> Iterator[tuple[int, Ranges]]:
    """The targets of a node, each with the codes that lead there."""
    if isinstance(node, Cut):
        last = schema[node.column].cells - 1
        exits: list[tuple[int, Ranges]] = [
            (node.below, ((0, node.threshold - 1),)),
            (node.above, ((node.threshold, last),)),
        ]
    else:
        codes: dict[int, set[int]] = {}
        for code, target in enumerate(node.targets):
            codes.setdefault(target, set()).add(code)
        exits = [(target, ranges(leading)) for target, leading in codes.items()]
    return ((target, leading) for target, leading in exits if target != OUTSIDE)


class _TooLarge(Exception):
    """Diagrams that would take too many steps."""


class _Diagrams:
    """Ordered decision diagrams that share their nodes: equal sets of points are one number."""

    def __init__(self, schema: Schema, wheres: Sequence[Bound]) -> None:
        used = {test.column for where in wheres for test in _tests(where)}
        if len(used) > MOST_COLUMNS:
            raise _TooLarge
        self._columns = [column for column in schema if column.name in used]
        self._order = {column.name: i for i, column in enumerate(self._columns)}
        self._nodes: list[tuple[int, _Runs]] = [(len(used), ()), (len(used), ())]
        self._numbers: dict[tuple[int, _Runs], int] = {}
        self._combined: dict[tuple[bool, int, int], int] = {}
        self._digests = {root: hashlib.sha256(word).digest() for root, word in ((_NOTHING, b"none"), (_ALL, b"all"))}
        self._steps = MOST_STEPS + 16 * len(wheres)

    def of(self, where: Bound) -> int:
        """The diagram of a filter."""
        if isinstance(where, Test):
            return self._test(where)
        every = isinstance(where, Every)
        result = _ALL if every else _NOTHING
        for part in where.parts:
            result = self._combine(every, result, self.of(part))
        return result

    def first_point(self, root: int) -> list[int]:
        """The first point of the grid, in the order of the columns, that a diagram accepts."""
        point = [0] * len(self._columns)
        while root != _ALL:
            column, runs = self._nodes[root]
            start = 0
            for last, target in runs:
                if target != _NOTHING:
                    point[column], root = start, target
                    break
                start = last + 1
        return point

    def digest(self, root: int) -> bytes:
        """A digest that only this set of points has."""
        digest = self._digests.get(root)
        if digest is None:
            column, runs = self._nodes[root]
            ends = [(last, self.digest(target).hex()) for last, target in runs]
            text = json.dumps([self._columns[column].name, ends])
            digest = self._digests[root] = hashlib.sha256(text.encode()).digest()
        return digest

    def _test(self, test: Test) -> int:
        runs, start = [], 0
        for low, high in test.ranges:
            if low > start:
                runs.append((low - 1, _NOTHING))
            runs.append((high, _ALL))
            start = high + 1
        column = self._order[test.column]
        if start < self._columns[column].cells:
            runs.append((self._columns[column].cells - 1, _NOTHING))
        return self._node(column, runs)

    def _combine(self, every: bool, left: int, right: int) -> int:
        """The points that are in both sets, or in either."""
        absorbing, neutral = (_NOTHING, _ALL) if every else (_ALL, _NOTHING)
        if absorbing in (left, right):
            return absorbing
        if right in (left, neutral):
            return left
        if left == neutral:
            return right
        key = (every, min(left, right), max(left, right))
        if key not in self._combined:
            self._steps -= 1
            if self._steps < 0:
                raise _TooLarge
            column = min(self._nodes[left][0], self._nodes[right][0])
            runs = [
                (last, self._combine(every, a, b))
                for last, a, b in _overlaid(self._runs(left, column), self._runs(right, column))
            ]
            self._combined[key] = self._node(column, runs)
        return self._combined[key]

    def _runs(self, root: int, column: int) -> _Runs:
        """How a diagram goes on from a column, which it may not test."""
        tested, runs = self._nodes[root]
        return runs if tested == column else ((self._columns[column].cells - 1, root),)

    def _node(self, column: int, runs: Sequence[tuple[int, int]]) -> int:
        merged = tuple(
            run for run, after in zip(runs, (*runs[1:], None), strict=True) if after is None or after[1] != run[1]
        )
        if len(merged) == 1:
            return merged[0][1]
        number = self._numbers.setdefault((column, merged), len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append((column, merged))
        return number


def _tests(where: Bound) -> Iterator[Test]:
    if isinstance(where, Test):
        yield where
        return
    for part in where.parts:
        yield from _tests(part)


def _overlaid(left: _Runs, right: _Runs) -> Iterator[tuple[int, int, int]]:
    """Two lists of runs as one, with the targets of both."""
    i = j = 0
    while i < len(left) and j < len(right):
        last = min(left[i][0], right[j][0])
        yield last, left[i][1], right[j][1]
        i, j = i + (left[i][0] == last), j + (right[j][0] == last)
