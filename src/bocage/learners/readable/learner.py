"""A readable tree: one small tree, as accurate as its epsilon allows.

The upper levels descend from DiffPID3 (Friedman & Schuster 2010, Algorithm 2) and leave out what costs most
there: no node is counted, a monotone score needs half the noise, all splits compete in one selection, and
what a path does not spend goes to its end. There, all splits and labels of the lower levels are drawn at
once: one exponential mechanism over whole trees pays once for what level after level would share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil, exp, log
from typing import Any, ClassVar

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.discretization import Spreads, count_spreads
from bocage.learners.forest_size import arities
from bocage.learners.frontier import OpenNode
from bocage.learners.plan import Plan, Step
from bocage.learners.readable.lower_levels import Crowns, Extent, Reach
from bocage.learners.readable.smoothing import smoothed
from bocage.learners.score.models import counted_additive_of
from bocage.learners.score.rule import ordinal_scores_of, scorecards_of
from bocage.model import AdditiveModel, Tree, TreeBuilder
from bocage.model.bins import Cuts
from bocage.model.tree.shape import MOST_ENTRIES
from bocage.plan.splits import Split
from bocage.private import (
    Candidate,
    Criterion,
    EpsilonLike,
    IntArray,
    Level,
    Paths,
    PrivateTable,
    Scores,
    Selection,
    capabilities,
    criterion_named,
)
from bocage.private.capabilities import Capability
from bocage.private.joint.mixture import MOST_FAVOR
from bocage.schema import Numeric, Schema

SIZE, LEAVES = "number of rows", "leaf, or trees drawn at once and counts of their leaves, at least"
SPLITS = "splits along a path and the thresholds of numeric attributes, at most"
SUPPORT = 30  # records times epsilon that an average leaf should have
SLACK = 2  # by how much the product of the branches of a path may exceed what that allows
DRAWN = 20  # ... where the lower levels are drawn at once
SATURATED = 2.0  # epsilon that feeds the most leaves: with more of them, each has too few rows
KEPT = (1, 4)  # parts of epsilon: splits above these levels at most, the draw at least
LEAF_COUNTS = 1000  # records times epsilon from which on ...
COUNTING = (19, 1)  # ... a part of epsilon counts the leaves of drawn trees
POINTED = 4  # labels up to which a scorecard may take the place of a tree
# Records times epsilon from which on a tree is likelier beforehand than what may take its place, and for how many more
# by a factor of e.
PLENTY, FAVORED = 500, 50
GROWTH = 0.25  # a level gets more than the one above it by the branches to this power
THRESHOLDS = 64  # of one numeric attribute that a node chooses from
STRONG = 100  # records of a node times what it pays, from which on purity counts beside errors
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
    Neighbors differ in one record that is there or not. The number of rows has sensitivity 1. The
    score of a split is the number of records that have the majority label of their branch, which one
    more record raises by 0 to 1, or -(E + I/2)/2 with its errors E and its impurity I, which one more
    record lowers by 0 to 1, for every split of every attribute alike (monotone, range 1): so
    permute-and-flip with rate epsilon is epsilon-DP without a factor 2; see `MaxOperator` and `Blend`.
    By which score a level chooses, what a node chooses from, what it pays and whether it is a leaf
    follow from the schema, the noisy number of rows and the splits released above. Nodes of one
    level are disjoint (parallel composition). The splits of a path add up to 65 % of what is left
    after the count, at most, or 20 % if trees are drawn; its end gets all the rest (sequential composition). Of
    the splits' share, where the number of rows allows it, 2 to 5 % of what is left pay for counts of numeric
    attributes with many codes, and 2 to 10 % each for one or two more rounds if there are uneven ones,
    whose thresholds these give; see :func:`~bocage.learners.discretization.count_spreads`. At the end of a path a
    tree is drawn by how many rows it predicts right (monotone, range 1), see
    :class:`~bocage.private.joint.tree.sampler.DrawnTrees`, or, if that is the whole tree, a tree, an ordinal score or a scorecard among all of
    these, see :class:`~bocage.private.joint.mixture.OneOf`; with 1000 records times epsilon or more, 5 % of epsilon are
    left for counts of the leaves of the whole tree, or of rows by points (discrete Laplace, sensitivity 1). Where nothing is
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
            if not (name == "rows" and value is None) and not (
                type(value) is int and least <= value <= most
            ):
                raise LearnerError(
                    f"{self.name} needs {name} from {least} to {most}, not {value!r}."
                )
        for name in ("drawn", "scorecards", "ordinal_scores"):
            if type(value := getattr(self, name)) is not bool:
                raise LearnerError(f"{self.name} needs {name} to be True or False, not {value!r}.")
        return super().check(schema)

    def requires(self, schema: Schema) -> tuple[Capability, ...]:  # noqa: ARG002 - whatever it declares
        return (capabilities.walks,) if self.drawn else ()

    def spreads(self, level: Level, rows: int, epsilon: Epsilon) -> tuple[Spreads, Epsilon]:
        """How numeric attributes with many codes are spread, and what is left."""
        columns = [level.schema[name] for name in self.check(level.schema)]
        coarse = [c for c in columns if isinstance(c, Numeric) and c.cells > THRESHOLDS]
        return count_spreads(level, coarse, rows, epsilon, laplace=True)

    def _rule(self, schema: Schema, rows: int, splits: Epsilon, leaf: Epsilon) -> _Rule:
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
        return _Rule(schema, rows, most, average, leaf, reach)

    def _others(
        self, schema: Schema, rows: int, epsilon: Epsilon, spreads: Spreads
    ) -> list[Scores[Any]]:
        """What is drawn among beside trees, where all of a tree is drawn."""
        names, found = self.check(schema), list[Scores[Any] | None]()
        if self.ordinal_scores:
            found.append(
                ordinal_scores_of(schema, names, rows, epsilon, spreads, leaves=self.leaves)
            )
        if self.scorecards and label_of(schema).cells <= POINTED:
            found.append(scorecards_of(schema, names, rows, float(epsilon), spreads))
        return [one for one in found if one is not None]

    def fit(
        self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet
    ) -> Tree | AdditiveModel:
        plan = self.plan(table.schema, epsilon)
        schema, label = table.schema, label_of(table.schema)
        start = self.reserve(table, plan)
        progress(0, 3)
        rows, paid = self.rows, None
        if rows is None:
            paid = plan.share(0, SIZE)
            rows = max(int(start.totals(paid)[0]), 1)
        splits, rest = plan.share(0, SPLITS), plan.share(1, LEAVES)
        spreads, left = self.spreads(start, rows, splits + rest)
        cuts = {name: own for name in spreads if (own := spreads.cuts(name, THRESHOLDS))}
        tree, parents = TreeBuilder(schema), [-1]
        rule = replace(self._rule(schema, rows, splits, rest), cuts=cuts)
        leaves: _Leaves | Crowns = _Leaves(
            label.name, counted=rows * float(splits + rest) >= COUNTED, rows=(rows, paid)
        )
        if (reach := rule.reach) is not None:
            spare = None
            if rows * float(left) >= LEAF_COUNTS:
                left, spare = left.split(COUNTING)
            rule = replace(rule, leaf=left.split(KEPT)[1])
            others = self._others(schema, rows, left, spreads) if rule.levels(1) < 1 else []
            leaves = Crowns(
                tree, reach, cuts, rule.most, spare, others, favor_of(rows * float(left))
            )
        paths: Paths | None = start.paths(left)
        open_ = [_Open(OpenNode(tree.root, self.check(schema)))]
        progress(1, 3)
        while paths is not None:
            asked = [rule.ask(*pair) for pair in zip(open_, paths.remaining(), strict=True)]
            ends = [i for i, one in enumerate(asked) if one is None]
            ended, inner = paths.part(ends)
            if ended is not None:
                leaves.release(ended, [open_[i] for i in ends])
            paths = None
            if inner is not None:
                asks = [one for one in asked if one is not None]
                going = [here for here, one in zip(open_, asked, strict=True) if one is not None]
                pays = [pays for _, pays in asks]
                chosen = inner.choose(
                    [candidates for candidates, _ in asks],
                    label.name,
                    rule.criterion(going, pays),
                    Selection.PERMUTE_AND_FLIP,
                    pays,
                )
                paths = inner.split(chosen)
                open_ = [
                    child
                    for here, split in zip(going, chosen, strict=True)
                    for child in here.grow(tree, split, parents)
                ]
        progress(2, 3)
        notes = leaves.notes if isinstance(leaves, Crowns) else ()
        certificate = self.certificate(start, notes=notes)
        if isinstance(leaves, Crowns) and leaves.card is not None:
            model = counted_additive_of(start, leaves.card, leaves.spare, certificate)
            progress(3, 3)
            return self.certified(model, start)
        leaves.record(tree, parents)
        grown = _joined(tree.freeze(certificate))
        if isinstance(leaves, Crowns):
            grown = leaves.counted(grown, start, (rows, paid))
        progress(3, 3)
        return self.certified(grown, start)


def favor_of(support: float) -> int:
    """How often a tree is twice as likely beforehand as a score, by records times epsilon.

    The weight of a kind is that of all its outcomes together, the good and the many. A tree of many leaves is one of very
    many, and loses against a rougher score that is one of few, long after it would predict better.
    """
    return min(max(round((support - PLENTY) / (FAVORED * log(2))), 0), MOST_FAVOR)


@dataclass(frozen=True)
class _Open:
    """A node that may be split, and the product of the branches of the splits above it."""

    here: OpenNode
    branches: int = 1

    def grow(self, tree: TreeBuilder, split: Split, parents: list[int]) -> Iterator[_Open]:
        ids = tree.split(self.here.node, *split)
        parents += [self.here.node] * len(ids)
        parts = self.here.children(tree.schema, split)
        for child, part in zip(ids, parts, strict=True):
            yield _Open(OpenNode(child, *part), self.branches * len(ids))


@dataclass(frozen=True)
class _Rule:
    """What a node chooses from and what it pays. All of it is public."""

    schema: Schema
    rows: int
    most: float  # leaves of average size that the data can feed
    branches: float  # of an average split
    leaf: Epsilon  # what is kept for the leaf
    reach: Reach | None  # of the levels that are drawn at once
    cuts: dict[str, Cuts] = field(default_factory=dict)  # thresholds of uneven attributes

    def ask(self, node: _Open, left: Epsilon) -> tuple[tuple[Candidate, ...], Epsilon] | None:
        """The candidates of a node and what it pays for the choice; None ends the path.

        The product of the branches of a path stays below `most`, with some slack and twice that at
        the root. What the path has left for splits is shared by the levels that are still to come.
        """
        room = SLACK * self.most / node.branches * (2 if node.branches == 1 else 1)
        candidates = node.here.small_candidates(self.schema, room, THRESHOLDS, self.cuts)
        levels = self.levels(node.branches)
        if levels < 1:
            return None
        weights = sum(self.branches ** (GROWTH * level) for level in range(levels))
        pays = int((left.nano - self.leaf.nano) / weights)
        return (candidates, Epsilon(pays)) if candidates and pays > 0 else None

    def levels(self, branches: int) -> int:
        """How many levels are chosen from a node on that has so many branches above it."""
        free = log(self.most / branches) / log(self.branches)
        return max(ceil(free - 1e-9), 1) if self.reach is None else round(free) - self.reach.depth

    def criterion(self, nodes: list[_Open], pays: list[Epsilon]) -> Criterion:
        """The score of a level.

        Above levels that are drawn at once purity looks ahead, and errors are their concern. Otherwise
        errors are what counts in the end, and no concave score of range 1 sets splits further apart.
        Where some node of the level has records enough to spare, purity counts too: it looks ahead.
        """
        strongest = max(
            self.rows / node.branches * float(paid) for node, paid in zip(nodes, pays, strict=True)
        )
        blend = self.reach is not None or strongest >= STRONG
        return criterion_named("blend" if blend else "max")


@dataclass
class _Leaves:
    """What was released about the leaves: noisy counts, or a label alone where few records are.

    With little data, permute-and-flip finds the right label more often than the largest of noisy
    counts does, and the counts would drown in their noise.
    """

    label: str
    counted: bool
    rows: tuple[int, Epsilon | None]  # of the table, and the epsilon that it was counted with
    found: dict[int, IntArray] = field(default_factory=dict)
    paid: dict[int, Epsilon] = field(default_factory=dict)

    def release(self, ended: Paths, open_: list[_Open]) -> None:
        """Spend everything that the paths have left."""
        rest, nodes = ended.remaining(), [one.here.node for one in open_]
        self.paid |= zip(nodes, rest, strict=True)
        answer = (
            ended.counts(self.label, rest)
            if self.counted
            else ended.modes(self.label, Selection.PERMUTE_AND_FLIP, rest)
        )
        self.found |= zip(nodes, answer, strict=True)

    def record(self, tree: TreeBuilder, parents: list[int]) -> None:
        if not self.counted:
            for node, code in self.found.items():
                tree.label(node, int(code))
            return
        for node, (counts, label) in enumerate(
            smoothed(parents, self.found, self.paid, rows=self.rows)
        ):
            tree.counts(node, counts)
            tree.label(node, label)


def _joined(tree: Tree) -> Tree:
    """The same decisions with fewer rules: a node whose leaves all decide alike is a leaf."""
    alike = tree.is_leaf.copy()
    for node in range(len(tree) - 1, -1, -1):
        children = list(tree.children(node))
        if children:
            alike[node] = alike[children].all() and len(set(tree.label[children].tolist())) == 1
    return tree.pruned(~alike)
