"""Which integer scores there are, and what one of them says. All of it is public.

A score gives the cells of some columns a few whole points. The points of a row add up to its
*rung*, and each rung has a label. There are two kinds:

    ordinal scores    points follow the order of the values, and each rung has a label of its own;
                      in each cell of one more column, the *gate*, the rungs have other labels
    scorecards        points are one of few patterns, and the rungs have two labels: one below a
                      threshold, another from it on (the scoring systems of Ustun & Rudin 2016)

Each kind is a few public parameters, and describes one :class:`Family`: an alphabet of points for
each column, the choices of columns and gate, and the law of the labels. All else knows families
alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, prod
from typing import Generic, TypeVar

from bocage.errors import PlanError
from bocage.private.terms import Block
from bocage.schema import Attribute, Categorical, Schema

Points = tuple[int, ...]  # of each cell of a column

STAY = (3, 4)  # of the rungs one above another, about so many have the same label
MOST_FRAMES, MOST_CHOICES, MOST_LEAVES = 2**16, 2**20, 2**13
MOST_LISTED = 2**20  # sets of columns of ordinal scores, before those with too many cells are left out

MOST = 2  # points of a cell on a scorecard
MOST_SUM = 30  # ... of all its columns
MOST_SETS = 2**18  # of columns
MOST_CARD_CELLS = 32  # of a column
_SUBSETS, _EVERY = 5, 4  # values up to which any set of them may have points; any points


@dataclass(frozen=True)
class DrawnOrdinalScore:
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
class DrawnScorecard:
    """`labels[1]` is predicted where the points reach the threshold, else `labels[0]`.

    Attributes
    ----------
    points
        For each column that gives any, the points of its cells.
    """

    points: tuple[tuple[Block, Points], ...]
    threshold: int
    labels: tuple[int, int]


Score = DrawnOrdinalScore | DrawnScorecard
S = TypeVar("S", bound=Score)


@dataclass(frozen=True)
class Frame:
    """The columns of a score, as places among all: those that give points, and the gate (-1 for none)."""

    columns: tuple[int, ...]
    gate: int = -1


@dataclass(frozen=True)
class Family:
    """All scores of one kind.

    Attributes
    ----------
    alphabets
        The points that the cells of each column may have; none of a column that gives no points.
    kinds
        Frames whose scores are equally likely before a row is read. So are the kinds; none is
        empty.
    mirrored
        Whether a score turned upside down is the same score. Then the first column of a frame has
        but the first half of its alphabet, and each rung of each cell of the gate has a label: any
        on the lowest, and on every further one that of the rung below with probability `STAY`, or
        any other. Otherwise the label changes once, at a threshold from 1 to the most points,
        between two labels in the order of the schema, all equally likely; and without columns,
        there is one label.
    """

    blocks: tuple[Block, ...]
    labels: int
    alphabets: tuple[tuple[Points, ...], ...]
    kinds: tuple[tuple[Frame, ...], ...]
    mirrored: bool

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The labels below a threshold and above it; none where each rung has its own."""
        return [] if self.mirrored else list(combinations(range(self.labels), 2))

    @cached_property
    def tops(self) -> list[int]:
        """The most points of a cell of each column."""
        return [top_of(alphabet) if alphabet else 0 for alphabet in self.alphabets]

    def top(self, frame: Frame) -> int:
        """The highest rung."""
        return sum(self.tops[i] for i in frame.columns)

    def sizes(self, frame: Frame) -> list[int]:
        """How many points each of the columns is offered."""
        sizes = [len(self.alphabets[i]) for i in frame.columns]
        return [sizes[0] // 2, *sizes[1:]] if self.mirrored else sizes

    def scores(self, frame: Frame) -> int:
        """How many scores of the frame are equally likely; with a chain of labels, how many points."""
        if not frame.columns:
            return self.labels
        labelings = 1 if self.mirrored else self.top(frame) * len(self.pairs)
        return prod(self.sizes(frame)) * labelings


@dataclass(frozen=True)
class Scores(ABC, Generic[S]):
    """Which scores there are. Public.

    Parameters
    ----------
    blocks
        The columns, with their cells, in the order of the schema.
    most
        How many of them may give points.
    """

    blocks: tuple[Block, ...]
    most: int

    @abstractmethod
    def words(self, label: str) -> str:
        """What is drawn, for people."""

    @abstractmethod
    def check(self, schema: Schema) -> None:
        """Refuse what cannot be visited."""

    @abstractmethod
    def summands(self, schema: Schema, labels: int) -> int:
        """Numbers that are added up for one frame, at most."""

    @abstractmethod
    def family(self, schema: Schema, label: str) -> Family:
        """All of them."""


@dataclass(frozen=True)
class OrdinalScores(Scores[DrawnOrdinalScore]):
    """Points that never fall along the declared order of the values, or never rise.

    Parameters
    ----------
    top
        The most points of a cell.
    leaves
        Combinations of cells that the columns of a score may have.
    """

    top: int
    leaves: int

    def words(self, label: str) -> str:
        return f"a ladder of up to {self.most} columns for {label}"

    def check(self, schema: Schema) -> None:
        if self.most < 1 or self.top < 1 or self.leaves > MOST_LEAVES:
            raise PlanError(f"an ordinal score has a column and a point at least, and {MOST_LEAVES} cells at most.")
        able = sum(block.size > 1 for block in self.blocks)
        sets = sum(comb(able, size) for size in range(1, min(self.most, able) + 1))
        listed = self.kinds if sets * able <= MOST_LISTED else []
        frames = [frame for kind in listed for frame in kind]
        if not 1 <= len(frames) <= MOST_FRAMES or max(map(self.choices, frames)) > MOST_CHOICES:
            raise PlanError(
                f"ordinal scores are of 1 to {MOST_FRAMES} choices of columns, each with {MOST_CHOICES} "
                "choices of points at most."
            )

    def summands(self, schema: Schema, labels: int) -> int:
        return (1 + self.top * self.most) * labels

    def family(self, schema: Schema, label: str) -> Family:
        used = {i for kind in self.kinds for frame in kind for i in frame.columns}
        alphabets = tuple(
            tuple(climbs(block.size, self.top)) if i in used else () for i, block in enumerate(self.blocks)
        )
        kinds = tuple(map(tuple, self.kinds))
        return Family(self.blocks, schema[label].cells, alphabets, kinds, mirrored=True)

    @cached_property
    def kinds(self) -> list[list[Frame]]:
        """Those of equal number of columns with a gate or without together; none is empty."""
        kinds = [
            [frame for frame in self._frames(size, gated=gated) if self.cells(frame) <= self.leaves]
            for size in range(1, self.most + 1)
            for gated in (False, True)
        ]
        return [frames for frames in kinds if frames]

    def _frames(self, size: int, *, gated: bool) -> Iterator[Frame]:
        """Columns of many cells come first: they have half their alphabet, and are folded least often."""
        able = [i for i, block in enumerate(self.blocks) if block.size > 1]
        order = sorted(able, key=lambda i: -self.blocks[i].size)
        for columns in combinations(order, size):
            for gate in able if gated else [-1]:
                if gate not in columns:
                    yield Frame(columns, gate)

    def cells(self, frame: Frame) -> int:
        """Combinations of cells."""
        return self.gates(frame) * prod(self.blocks[i].size for i in frame.columns)

    def gates(self, frame: Frame) -> int:
        return 1 if frame.gate < 0 else self.blocks[frame.gate].size

    def rungs(self, frame: Frame) -> int:
        return 1 + self.top * len(frame.columns)

    def choices(self, frame: Frame) -> int:
        """The choices of points, without a list of them: `Family.scores`."""
        ups = [comb(self.blocks[i].size - 1 + self.top, self.top) - 1 for i in frame.columns]
        return prod(ups) << (len(frame.columns) - 1)


@dataclass(frozen=True)
class Scorecards(Scores[DrawnScorecard]):
    """Points in patterns, see :func:`patterns_of`, two labels and a threshold.

    Parameters
    ----------
    rich
        Whether patterns are rich.
    """

    rich: bool = False

    def words(self, label: str) -> str:
        return f"points of up to {self.most} columns for {label}"

    def check(self, schema: Schema) -> None:
        if any(block.size > MOST_CARD_CELLS for block in self.blocks):
            raise PlanError(f"a column that gives points has {MOST_CARD_CELLS} cells at most.")
        tops = [top_of(alphabet) for alphabet in self.alphabets(schema) if alphabet]
        if not 1 <= self.most <= len(tops):
            raise PlanError(f"1 to {len(tops)} columns give points, not {self.most}.")
        if sum(sorted(tops)[-self.most :]) > MOST_SUM:
            raise PlanError(f"the points of a scorecard add up to {MOST_SUM} at most.")
        if sum(comb(len(tops), size) for size in range(self.most + 1)) > MOST_SETS:
            raise PlanError(f"one of {MOST_SETS} sets of columns gives points at most.")

    def summands(self, schema: Schema, labels: int) -> int:
        patterns = sorted((len(alphabet) for alphabet in self.alphabets(schema)), reverse=True)
        return prod(size for size in patterns[: self.most] if size) * MOST_SUM * labels**2

    def family(self, schema: Schema, label: str) -> Family:
        alphabets = self.alphabets(schema)
        able = [i for i, alphabet in enumerate(alphabets) if alphabet]
        order = sorted(able, key=lambda i: len(alphabets[i]))  # the last one is visited fastest
        kinds = tuple(tuple(map(Frame, combinations(order, size))) for size in range(self.most + 1))
        return Family(self.blocks, schema[label].cells, alphabets, kinds, mirrored=False)

    def alphabets(self, schema: Schema) -> tuple[tuple[Points, ...], ...]:
        columns = [(schema[block.columns[0]], block.size) for block in self.blocks]
        return tuple(patterns_of(*column, rich=self.rich) for column in columns)


@cache
def climbs(cells: int, top: int) -> list[Points]:
    """All points that never fall along the cells, from 0 to `top` at most; then all that never rise."""
    ups = [(0, *rest) for rest in combinations_with_replacement(range(top + 1), cells - 1) if rest and rest[-1]]
    return ups + [points[::-1] for points in ups]


def patterns_of(column: Attribute, cells: int, *, rich: bool = False) -> tuple[Points, ...]:
    """The patterns of a column that is cut to so many cells.

    Of two cells one has a point, or two if patterns are rich. Three values have 0, 1 and 2 points
    in any order; of more values any set has two points, from six on a single one or all others. A
    numeric column has two points from one of its cells on, or up to it. With every pattern there is
    the one that gives the points that it withholds.
    """
    if cells < 2:
        return ()
    if cells == 2:
        return ((0, 1), (1, 0)) + (((0, 2), (2, 0)) if rich else ())
    if not isinstance(column, Categorical):
        patterns = {tuple(MOST * (i >= start) for i in range(cells)) for start in range(1, cells)}
        if rich:
            patterns.add(tuple(round(MOST * i / (cells - 1)) for i in range(cells)))
    elif rich and cells <= _EVERY:
        every = product(range(MOST + 1), repeat=cells)
        patterns = {points for points in every if min(points) == 0 and max(points) == MOST}
    elif cells == MOST + 1:
        patterns = set(permutations(range(MOST + 1)))
    elif cells <= _SUBSETS:
        patterns = {points for points in product((0, MOST), repeat=cells) if len(set(points)) > 1}
    else:
        patterns = {tuple(MOST * (i == value) for i in range(cells)) for value in range(cells)}
    return tuple(sorted(patterns | {tuple(MOST - p for p in points) for points in patterns}))


def top_of(patterns: Iterable[Sequence[int]]) -> int:
    """The most points that one of the patterns gives a cell."""
    return max(map(max, patterns))
