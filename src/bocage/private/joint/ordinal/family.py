"""Ladders: points that climb along the values of some columns, and a label for each rung. All of it is public."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, combinations_with_replacement, pairwise
from math import comb, prod

from bocage.private.joint.score.patterns import Points
from bocage.private.terms import Block

STAY = (3, 4)  # of the rungs one above another, about so many have the same label


@dataclass(frozen=True)
class Ladder:
    """The points of a row add up to its rung. What a rung predicts depends on the cell of the gate.

    Attributes
    ----------
    gate
        A column that parts the rows, or none.
    points
        For each column that gives any, the points of its cells.
    labels
        For each cell of the gate (one if there is none) the label of each rung, from 0 points on.
    """

    gate: Block | None
    points: tuple[tuple[Block, Points], ...]
    labels: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Frame:
    """The columns of a ladder, as places among all: the gate (-1 for none) and those that give points."""

    gate: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Ladders:
    """Which ladders there are. Public.

    Parameters
    ----------
    blocks
        The columns, with their cells, in the order of the schema.
    most
        How many of them may give points.
    top
        The most points of a cell.
    leaves
        Combinations of cells that the columns of a ladder may have.
    """

    blocks: tuple[Block, ...]
    most: int
    top: int
    leaves: int

    @cached_property
    def kinds(self) -> list[list[Frame]]:
        """All frames, those of equal number of columns with a gate or without together; none is empty."""
        found = [
            [frame for frame in self._frames(size, gated=gated) if self.cells(frame) <= self.leaves]
            for size in range(1, self.most + 1)
            for gated in (False, True)
        ]
        return [frames for frames in found if frames]

    def _frames(self, size: int, *, gated: bool) -> Iterator[Frame]:
        """Columns of many cells come first: their points move up only, and are folded least often."""
        able = [i for i, block in enumerate(self.blocks) if block.size > 1]
        order = sorted(able, key=lambda i: -self.blocks[i].size)
        for columns in combinations(order, size):
            for gate in able if gated else [-1]:
                if gate not in columns:
                    yield Frame(gate, columns)

    def cells(self, frame: Frame) -> int:
        """Combinations of cells."""
        return self.gates(frame) * prod(self.blocks[i].size for i in frame.columns)

    def gates(self, frame: Frame) -> int:
        return 1 if frame.gate < 0 else self.blocks[frame.gate].size

    def patterns(self, frame: Frame) -> list[list[Points]]:
        """What the cells of each column may have. A ladder that is turned upside down is the same
        ladder, so that the first column only moves up."""
        return [
            climbs(self.blocks[i].size, self.top, both=place > 0)
            for place, i in enumerate(frame.columns)
        ]

    def rungs(self, frame: Frame) -> int:
        return 1 + self.top * len(frame.columns)

    def systems(self, frame: Frame) -> int:
        """The choices of points, without a list of them: as many as `patterns` has."""
        ups = [comb(self.blocks[i].size - 1 + self.top, self.top) - 1 for i in frame.columns]
        return prod(ups) << (len(frame.columns) - 1)


@cache
def climbs(cells: int, top: int, *, both: bool) -> list[Points]:
    """All points that never fall along the cells, from 0 to `top` at most; or never rise, if `both`."""
    ups = [
        (0, *rest)
        for rest in combinations_with_replacement(range(top + 1), cells - 1)
        if rest and rest[-1]
    ]
    return ups + ([one[::-1] for one in ups] if both else [])


def moves(labels: Sequence[int]) -> int:
    """How often the label changes from one rung to the next."""
    return sum(a != b for a, b in pairwise(labels))
