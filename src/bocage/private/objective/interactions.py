"""Which columns a correction of a model may look at together, and how likely: public, or released before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

GROUP = 2**13  # cells of tables that are counted together
Columns = tuple[int, ...]  # places of blocks, in their order


@dataclass(frozen=True)
class Interactions:
    """All choices of a few columns, and those of a table that was drawn before with one more.

    All numbers of columns are equally likely, and all choices of so many; that a table grows from another is one case
    more, as likely as each of these.

    Attributes
    ----------
    sizes
        The cells of each column.
    most
        How many columns are chosen freely.
    cells
        How many cells a table has at most.
    drawn
        The columns of the tables before.
    """

    sizes: tuple[int, ...]
    most: int
    cells: int
    drawn: tuple[Columns, ...] = ()

    def size(self, columns: Columns) -> int:
        return prod(self.sizes[i] for i in columns)

    @cached_property
    def choices(self) -> tuple[Columns, ...]:
        """Those that begin alike are neighbors."""
        every = range(len(self.sizes))
        free = (columns for n in range(1, self.most + 1) for columns in combinations(every, n))
        return (*(columns for columns in free if self.size(columns) <= self.cells), *self._grown)

    @cached_property
    def _grown(self) -> list[Columns]:
        larger = {
            tuple(sorted((*columns, i)))
            for columns in self.drawn
            for i in range(len(self.sizes))
            if len(columns) >= self.most and i not in columns
        }
        return sorted(columns for columns in larger if self.size(columns) <= self.cells)

    @cached_property
    def out_of(self) -> list[int]:
        """One over the prior of each choice."""
        kinds = [min(len(columns), self.most + 1) for columns in self.choices]
        often = Counter(kinds)
        return [len(often) * often[kind] for kind in kinds]

    def groups(self) -> Iterator[tuple[Columns, ...]]:
        """The choices, in parts that can be counted together."""
        first, cells = 0, 0
        for at, columns in enumerate(self.choices):
            if cells and cells + self.size(columns) > GROUP:
                yield self.choices[first:at]
                first, cells = at, 0
            cells += self.size(columns)
        yield self.choices[first:]
