"""Partitions: disjoint public parts of a table, asked together or one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from bocage.errors import PlanError
from bocage.plan import OUTSIDE, Branch, Cells, Cut
from bocage.plan.predicate import Bound, Value
from bocage.plan.regions import Geometry, both, filters_of, geometry_of
from bocage.plan.splits import code_alone, node_of
from bocage.private.query import Place, distinct, exact
from bocage.private.questions import Askable
from bocage.schema import Categorical, Numeric, Schema, number

if TYPE_CHECKING:
    from bocage.private.table import PrivateTable

MOST_PARTS = 2**17


class PrivatePartition(Askable):
    """Parts of a table. Asking the partition asks all parts in one scan for one epsilon.

    ``partition["F"]`` is a table of its own, usable at any later time. What is spent on the parts
    one by one costs the account only the rise of their maximum.

    Privacy
    -------
    Every row is in at most one part (parallel composition). A question to all parts adds the same
    amount to each, so it is charged to the account of the whole table, which is exactly what the
    maximum rises by.
    """

    def keys(self) -> tuple[str, ...]:
        """The public keys of the parts."""
        return self._place.keys

    def __len__(self) -> int:
        return self._place.cells.count

    def __iter__(self) -> Iterator[str]:
        return iter(self._place.keys)

    def __getitem__(self, key: str) -> PrivateTable:
        from bocage.private.table import PrivateTable  # noqa: PLC0415 - a part is a table again

        if key not in self._index:
            raise PlanError(f"the partition has no part {key!r}.")
        at, (filters, geometry) = self._index[key], self._regions
        part = (geometry.name, geometry.numbers[at])
        place = Place(filters[at], Cells(), ("",), (*self._place.parts, part))
        return PrivateTable(self._executor, self._account, place)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self._place.keys)}

    def items(self) -> Iterator[tuple[str, PrivateTable]]:
        """Key and table of each part."""
        return ((key, self[key]) for key in self._place.keys)

    def partition(
        self,
        by: str,
        *,
        edges: Sequence[Value] | None = None,
        values: Sequence[str] | None = None,
    ) -> PrivatePartition:
        """Split every part again by one column."""
        place = by_column(self.schema, self._place, by, edges=edges, values=values)
        return PrivatePartition(self._executor, self._account, place)

    def split(self, splits: Mapping[int, tuple[str, int | None]]) -> PrivatePartition:
        """Go on with the children of some cells: their chosen column and, if numeric, threshold."""
        chosen = list(splits)
        texts = {cell: _children(self.schema, *splits[cell]) for cell in chosen}
        kept = self._place.cells.only(chosen)
        nodes = {i: node_of(*splits[cell], self.schema[splits[cell][0]].cells) for i, cell in enumerate(chosen)}
        keys = [_join(self._place.keys[cell], text) for cell in chosen for text in texts[cell]]
        place = replace(self._place, cells=kept.refine(nodes), keys=distinct(keys))
        return PrivatePartition(self._executor, self._account, place)

    @cached_property
    def _regions(self) -> tuple[list[Bound], Geometry]:
        """For each part the filter of its rows; and what the ledger knows the parts by.

        Privacy
        -------
        The identity is that of regions on the schema's grid. Keys are for people: no name that a
        caller chose tells two parts apart.
        """
        within = filters_of(self._place.cells, self.schema)
        filters = [both(self._place.where, where) for where in within]
        return filters, geometry_of(self.schema, filters)


def by_column(
    schema: Schema,
    place: Place,
    name: str,
    *,
    edges: Sequence[Value] | None,
    values: Sequence[str] | None,
) -> Place:
    column = schema[name]
    if isinstance(column, Numeric):
        if values is not None:
            raise PlanError(f"column {name!r} is numeric: give edges, not values.")
        targets, texts = _ranges(column, edges)
    else:
        if edges is not None:
            raise PlanError(f"column {name!r} is categorical: give values, not edges.")
        targets, texts = _values(column, values)
    if place.cells.count * len(texts) > MOST_PARTS:
        raise PlanError(f"a partition has at most {MOST_PARTS} parts.")
    node = Branch(name, targets)
    cells = place.cells.refine(dict.fromkeys(range(place.cells.count), node))
    keys = distinct([_join(key, text) for key in place.keys for text in texts])
    return replace(place, cells=cells, keys=keys)


def by_cells(schema: Schema, place: Place, cells: Cells, names: Sequence[str]) -> Place:
    """The leaves of a released tree: a table is a single cell, which they divide."""
    if len(names) != cells.count or len(set(names)) < len(names):
        raise PlanError("a partition by cells needs a name of its own for each cell.")
    if type(cells) is not Cells or any(type(node) not in (Branch, Cut) for node in cells.nodes):
        raise PlanError("a partition by cells needs plain `Cells` of `Branch` and `Cut`.")
    cells.check(schema)
    return replace(place, cells=cells, keys=tuple(names))


def _values(column: Categorical, values: Sequence[str] | None) -> tuple[tuple[int, ...], tuple[str, ...]]:
    chosen = tuple(column.values if values is None else values)
    unknown = [value for value in chosen if value not in column.index]
    if unknown or not chosen or len(set(chosen)) < len(chosen):
        wrong = f"{unknown[0]!r} is not a value" if unknown else "each value must be named once"
        raise PlanError(f"partition by {column.name!r}: {wrong}.")
    child = {column.index[value]: i for i, value in enumerate(chosen)}
    return tuple(child.get(code, OUTSIDE) for code in range(column.cells)), chosen


def _ranges(column: Numeric, edges: Sequence[Value] | None) -> tuple[tuple[int, ...], tuple[str, ...]]:
    if edges is None:
        return tuple(range(column.cells)), tuple(map(column.text, range(column.cells)))
    starts = []
    for edge in edges:
        position = exact(edge, f"partition by {column.name!r}: an edge")
        if not column.lower < position <= column.upper:
            raise PlanError(
                f"partition by {column.name!r}: the edge {edge} lies outside "
                f"({number(column.lower)}, {number(column.upper)}]."
            )
        starts.append(min(ceil((position - column.lower) / column.width), column.cells))
    if not starts or any(a >= b for a, b in pairwise(starts)):
        raise PlanError(f"partition by {column.name!r}: edges must rise, by a grid cell at least.")
    if starts[-1] == column.cells:
        raise PlanError(f"partition by {column.name!r}: nothing lies beyond the edge {edges[-1]}.")
    bounds = [0, *starts, column.cells]
    pairs = list(pairwise(bounds))
    targets = [i for i, (low, high) in enumerate(pairs) for _ in range(low, high)]
    texts = [f"[{number(column.edge(a))}, {number(column.edge(b))})" for a, b in pairs]
    texts[-1] = f"[{number(column.edge(starts[-1]))}, {number(column.upper)}]"
    return tuple(targets), tuple(texts)


def _children(schema: Schema, name: str, threshold: int | None) -> list[str]:
    if threshold is None:
        return [f"{name} = {value}" for value in schema.categorical(name).values]
    if (code := code_alone(threshold)) is not None:
        value = schema.categorical(name).values[code]
        return [f"{name} = {value}", f"{name} != {value}"]
    edge = number(schema.numeric(name).edge(threshold))
    return [f"{name} < {edge}", f"{name} >= {edge}"]


def _join(key: str, text: str) -> str:
    return f"{key} / {text}" if key else text
