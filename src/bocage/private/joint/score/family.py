"""Point systems: which there are, and what one of them says. All of it is public."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from bocage.private.joint.score.patterns import Points, patterns_of
from bocage.private.terms import Block
from bocage.schema import Schema

WIDTH = 32  # of a line of counts, see `bocage.private.joint.score.kernels`
MOST_SUM = WIDTH - 2  # of points: loops have a constant length, and a column moves a line by 2


@dataclass(frozen=True)
class Sheet:
    """A point system: `labels[1]` is predicted where the points reach the threshold, else `labels[0]`.

    Attributes
    ----------
    points
        For each column that gives any, the points of its cells.
    """

    points: tuple[tuple[Block, Points], ...]
    threshold: int
    labels: tuple[int, int]


@dataclass(frozen=True)
class Systems:
    """Which point systems there are. Public.

    Parameters
    ----------
    blocks
        The columns, with their cells.
    most
        How many of them may give points.
    rich
        Whether patterns are rich.
    """

    blocks: tuple[Block, ...]
    most: int
    rich: bool = False


@dataclass(frozen=True)
class Family:
    """All systems, as numbers."""

    systems: Systems
    patterns: tuple[tuple[Points, ...], ...]  # of each block
    labels: int

    @classmethod
    def of(cls, systems: Systems, schema: Schema, label: str) -> Family:
        columns = [(schema[block.columns[0]], block.size) for block in systems.blocks]
        every = tuple(patterns_of(*column, rich=systems.rich) for column in columns)
        return cls(systems, every, schema[label].cells)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The labels below a threshold and above it."""
        return list(combinations(range(self.labels), 2))
