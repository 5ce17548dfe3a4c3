"""A readable tree: one small tree, as accurate as its epsilon allows.

The upper levels descend from DiffPID3 (Friedman & Schuster 2010, Algorithm 2) and leave out what costs most
there: no node is counted, a monotone score needs half the noise, all splits compete in one selection, and
what a path does not spend goes to its end. There, all splits and labels of the lower levels are drawn at
once: one exponential mechanism over whole trees pays once for what level after level would share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, exp, log
from typing import Any, ClassVar

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.discretization import Spreads, count_spreads
from bocage.learners.forest_size import arities
from bocage.learners.plan import Plan, Step
from bocage.learners.readable.leaves import Ends, Leaves, Size
from bocage.learners.readable.lower_levels import DrawnLevels, Extent
from bocage.learners.readable.upper_levels import THRESHOLDS, Rule, grow
from bocage.learners.score.rule import ordinal_scores_of, scorecards_of
from bocage.model import AdditiveModel, Tree, TreeBuilder
from bocage.model.bins import Cuts
from bocage.model.tree.shape import MOST_ENTRIES
from bocage.private import (
    Count,
    DrawnScores,
    EpsilonLike,
    OpenCells,
    PrivateTable,
    Scores,
    Selection,
    capabilities,
)
from bocage.private.capabilities import Capability
from bocage.private.joint.mixture import MOST_FAVOR
from bocage.schema import Numeric, Schema

SIZE, LEAVES = "number of rows", "leaf, or trees drawn at once and counts of their leaves, at least"
SPLITS = "splits along a path and the thresholds of numeric attributes, at most"
SUPPORT = 30  # records times epsilon that an average leaf should have
DRAWN = 20  # ... where the lower levels are drawn at once
SATURATED = 2.0  # epsilon that feeds the most leaves: with more of them, each has too few rows
KEPT = (1, 4)  # parts of epsilon: splits above these levels at most, the draw at least
LEAF_COUNTS = 1000  # records times epsilon from which on ...
COUNTING = (19, 1)  # ... a part of epsilon counts the leaves of drawn trees
POINTED = 4  # labels up to which a scorecard may take the place of a tree
# Records times epsilon from which on a tree is likelier beforehand than what may take its place, and for how many more
# by a factor of e.
PLENTY, FAVORED = 500, 50
COUNTED = 500  # records times epsilon from which on leaves are counted instead of labeled
MOST_LEAVES = 2**16


@dataclass(frozen=True)
class ReadableTree(Learner):
    """One tree of few, short rules.

    Parameters
    ----------
    rows
        The number of rows, if it is public; else 5 % of epsilon pay for a noisy count of it.
    leaves
        About how many leaves the tree may have, however many rows there are.
    attributes
        Those that the tree may split by; None for all.
    drawn
        Whether the lower levels may be drawn at once, which is far more accurate. Not every noise
        provider can do that.
    scorecards
        Whether a scorecard may take the place of the tree, if it predicts more rows right: where
        the whole tree is drawn at once. The model is an :class:`~bocage.model.AdditiveModel` then.
    ordinal_scores
        Whether the tree may be an ordinal score, where it is drawn at once: points along the declared order of
        values add up, and each sum has a label. It is more accurate where values have an order.

    Privacy
    -------
    Neighbors differ in one record that is there or not. The number of rows has sensitivity 1. The score
    of a split is the number of records that have the majority label of their branch, which one more record raises by 0
    to 1, or -(E + I/2)/2 with its errors E and its impurity I, which one more record lowers by 0 to 1, for every split
    of every attribute alike (monotone, range 1): so permute-and-flip with rate epsilon is epsilon-DP without a factor
    2; see `MaxOperator` and `Blend`. By which score a level chooses, what a node chooses from, what it pays and whether
    it is a leaf follow from the schema, the noisy number of rows and the splits released above. Nodes of one level are
    disjoint (parallel composition). The splits of a path add up to 65 % of what is left after the count, at most, or 20
    % if trees are drawn; its end gets all the rest (sequential composition). Of the splits' share, where the number of
    rows allows it, 2 to 5 % of what is left pay for counts of numeric attributes with many codes, and 2 to 10 % each
    for one or two more rounds if there are uneven ones, whose thresholds these give; see
    :func:`~bocage.learners.discretization.count_spreads`. At the end of a path a tree is drawn by how many rows it
    predicts right (monotone, range 1), see :class:`~bocage.private.joint.tree.sampler.DrawnTrees`, or, if that is the
    whole tree, a tree, an ordinal score or a scorecard among all of these, see
    :class:`~bocage.private.joint.mixture.OneOf`; with 1000 records times epsilon or more, 5 % of epsilon are left for
    counts of the leaves of the whole tree, or of rows by points (discrete Laplace, sensitivity 1). Where nothing is
    drawn, which depends on schema, number of rows and epsilon, a leaf is labeled by one permute-and-flip over its label
    counts (monotone, range 1), or counted likewise. Everything else is post-processing.
    """

    name: ClassVar[str] = "readable"
    paper: ClassVar[str] = "Bocage, after Friedman & Schuster 2010 and McKenna & Sheldon 2020"
    numeric: ClassVar[bool] = True
    rows: int | None = None
    leaves: int = 1024
    attributes: tuple[str, ...] | None = None
    drawn: bool = True
    scorecards: bool = False
    ordinal_scores: bool = True

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        self.check(schema)
        budget = budget_of(epsilon, 400, self.name)
        size, rest = (None, budget) if self.rows is not None else budget.split([1, 19])
        splits, leaves = rest.split([13, 7])
        count = [] if size is None else [Step(0, SIZE, "discrete Laplace", size)]
        steps = [
            *count,
            Step(0, SPLITS, Selection.PERMUTE_AND_FLIP.words, splits),
            Step(1, LEAVES, "exponential, permute and flip or discrete Laplace", leaves),
        ]
        return Plan(self.name, budget, tuple(steps))

    def check(self, schema: Schema) -> tuple[str, ...]:
        for name, least, most in (("rows", 1, 2**40), ("leaves", 2, MOST_LEAVES)):
            value = getattr(self, name)
            if not (name == "rows" and value is None) and not (type(value) is int and least <= value <= most):
                raise LearnerError(f"{self.name} needs {name} from {least} to {most}, not {value!r}.")
        for name in ("drawn", "scorecards", "ordinal_scores"):
            if type(value := getattr(self, name)) is not bool:
                raise LearnerError(f"{self.name} needs {name} to be True or False, not {value!r}.")
        return super().check(schema)

    def requires(self, schema: Schema) -> tuple[Capability, ...]:  # noqa: ARG002 - whatever it declares
        return (capabilities.draws_by_rejection,) if self.drawn else ()

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Tree | AdditiveModel:
        plan = self.plan(table.schema, epsilon)
        start = self.reserve(table, plan)
        progress(0, 3)
        size = self._size(start, plan)
        rule, ends, left = self._way(start, size, plan)
        progress(1, 3)
        parents = grow(start.paths(left), self.check(start.schema), rule, ends)
        progress(2, 3)
        model = ends.model(parents, start, self.certificate(start, notes=ends.notes))
        progress(3, 3)
        return self.certified(model, start)

    def _size(self, start: OpenCells, plan: Plan) -> Size:
        """The number of rows: declared, or counted."""
        if self.rows is not None:
            return self.rows, None
        paid = plan.share(0, SIZE)
        return max(int(start.ask(Count(paid))[0]), 1), paid

    def _way(self, start: OpenCells, size: Size, plan: Plan) -> tuple[Rule, Ends, Epsilon]:
        """How the tree grows, what becomes of the ends of its paths, and what is left for both.

        All of it follows from the schema, the number of rows and counts of numeric attributes.
        """
        schema, (rows, _) = start.schema, size
        splits, rest = plan.share(0, SPLITS), plan.share(1, LEAVES)
        spreads, left = self._spreads(start, rows, splits + rest)
        cuts = {name: own for name in spreads if (own := spreads.cuts(name, THRESHOLDS))}
        rule, tree = self._rule(schema, rows, splits, rest, cuts), TreeBuilder(schema)
        if (reach := rule.reach) is None:
            return rule, Leaves(tree, size, rows * float(splits + rest) >= COUNTED), left
        spare: Epsilon | None = None
        if rows * float(left) >= LEAF_COUNTS:
            left, spare = left.split(COUNTING)
        rule = replace(rule, leaf=left.split(KEPT)[1])
        others = self._others(schema, rows, left, spreads) if rule.levels(1) < 1 else []
        favor = favor_of(rows * float(left))
        ends = DrawnLevels(tree, size, reach, cuts, rule.most, spare, others, favor)
        return rule, ends, left

    def _spreads(self, start: OpenCells, rows: int, epsilon: Epsilon) -> tuple[Spreads, Epsilon]:
        """How numeric attributes with many codes are spread, and what is left."""
        columns = [start.schema[name] for name in self.check(start.schema)]
        coarse = [c for c in columns if isinstance(c, Numeric) and c.cells > THRESHOLDS]
        return count_spreads(start, coarse, rows, epsilon, laplace=True)

    def _rule(self, schema: Schema, rows: int, splits: Epsilon, leaf: Epsilon, cuts: dict[str, Cuts]) -> Rule:
        """The smooth depth rule: about one leaf for every SUPPORT / epsilon records.

        There are more where the lower levels are drawn at once.
        """
        names = self.check(schema)
        room = min(self.leaves, MOST_ENTRIES // (8 * label_of(schema).cells))
        branches = arities(schema, names)
        average = exp(sum(map(log, branches)) / len(branches))
        support, reach = rows * float(splits + leaf), None
        if self.drawn:
            fed = rows * min(float(splits + leaf), SATURATED)
            most = min(max(fed / DRAWN, 1.0), room)
            reach = Extent(schema, names, rows, support, most, average).reach()
        if reach is None:
            most = min(max(support / SUPPORT, 1.0), room)
        else:
            reach = replace(reach, depth=min(reach.depth, max(ceil(log(room, average) - 1e-9), 1)))
        return Rule(schema, rows, most, average, leaf, reach, cuts)

    def _others(self, schema: Schema, rows: int, epsilon: Epsilon, spreads: Spreads) -> list[DrawnScores[Any]]:
        """What is drawn among beside trees, where all of a tree is drawn."""
        names, label = self.check(schema), label_of(schema)
        scores: list[Scores[Any] | None] = []
        if self.ordinal_scores:
            scores.append(ordinal_scores_of(schema, names, rows, epsilon, spreads, leaves=self.leaves))
        if self.scorecards and label.cells <= POINTED:
            scores.append(scorecards_of(schema, names, rows, float(epsilon), spreads))
        return [DrawnScores(label.name, epsilon, kind) for kind in scores if kind is not None]


def favor_of(support: float) -> int:
    """How often a tree is twice as likely beforehand as a score, by records times epsilon.

    The weight of a kind is that of all its outcomes together, the good and the many. A tree of many leaves is one of
    very many, and loses against a rougher score that is one of few, long after it would predict better.
    """
    return min(max(round((support - PLENTY) / (FAVORED * log(2))), 0), MOST_FAVOR)
