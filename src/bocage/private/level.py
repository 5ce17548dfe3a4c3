"""The open cells of a growing tree, inside what a learner reserved. Arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from bocage.accounting import MemoryAccount
from bocage.epsilon import Epsilon
from bocage.errors import PlanError, RefusedVariant
from bocage.mechanisms import Adjacency, Selection
from bocage.model import AdditiveModel, Model
from bocage.plan import Branch, Cells, Cut
from bocage.plan.predicate import Bound
from bocage.plan.question import MOST_COUNTERS
from bocage.plan.splits import Split, node_of
from bocage.private.answer import Kind
from bocage.private.choose import Candidate, Choose, Mode
from bocage.private.count import MOST_COUNTS, Count, Counts
from bocage.private.criteria import Criterion, Gini, criterion_named
from bocage.private.executor import LiveExecutor, digest
from bocage.private.joint.score.counts import ScoredCounts
from bocage.private.joint.score.family import DrawnScorecard, Scorecards
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.objective.boosting import Mending
from bocage.private.objective.fit import AdditiveFit
from bocage.private.query import IntArray, Place, Query
from bocage.private.tables.comparison import BestModel
from bocage.private.tables.consistent_counts import AgreeingCounts, Spread, spread
from bocage.private.tables.ensemble import Ensemble
from bocage.private.tables.histograms import Histograms
from bocage.private.terms import Block
from bocage.private.transcript import Transcript
from bocage.private.unsound import LocalGini
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.private.paths import Paths


class Level:
    """Disjoint cells that a learner asks about together: one scan and one charge per question.

    Get the first one, a single cell, from :meth:`PrivateTable.reserve`; `split` gives the level
    below, `group` parts the cells so that each group spends on its own.
    """

    def __init__(
        self, executor: LiveExecutor, account: MemoryAccount, where: Bound, cells: Cells
    ) -> None:
        self._executor, self._account = executor, account
        self._place = Place(where, cells, ())

    @property
    def schema(self) -> Schema:
        return self._executor.terms.schema

    @property
    def adjacency(self) -> Adjacency:
        return self._executor.terms.adjacency

    @property
    def batch(self) -> str | None:
        """The batch that the rows are, if the owner declared one."""
        return self._executor.terms.batch

    def __len__(self) -> int:
        return self._place.cells.count

    def remaining(self) -> Epsilon:
        """What the path of every cell may still spend."""
        return self._account.remaining()

    @property
    def entry(self) -> int | None:
        """The ledger entry that paid for the reservation."""
        return self._account.number if self._executor.has_ledger else None

    @property
    def transcript(self) -> Transcript:
        """What was released out of the reservation so far."""
        if self._executor.transcript is None:
            raise PlanError("nothing is written down about what is released once.")
        return self._executor.transcript

    @property
    def made_up(self) -> bool:
        """Whether the rows are those of a dry run."""
        return self._executor.kind is Kind.DRY_RUN

    def deviation(self, epsilon: Epsilon, sensitivity: int = 1) -> float:
        """Standard deviation of the noise on a count. Public: it costs nothing."""
        return sqrt(2) * float(self._executor.terms.scale(sensitivity, epsilon))

    def share(self, memo: str, epsilon: Epsilon) -> Level:
        """The same cells with a share of what is reserved, to be spent in sequence with others."""
        account = self._account.reserve(epsilon, memo)
        return Level(self._executor, account, self._place.where, self._place.cells)

    def paths(self, epsilon: Epsilon) -> Paths:
        """The same cells with `epsilon` for each path below them, spent as each path likes."""
        from bocage.private.paths import Paths  # noqa: PLC0415 - it builds on this module

        self._account.charge(epsilon, "paths")
        left = np.full(len(self), epsilon.nano, np.int64)
        trail = self.transcript.paths(self._account.scope)
        return Paths(self._executor, self._place, left, [trail] * len(self))

    def totals(self, epsilon: Epsilon) -> IntArray:
        """Noisy number of rows of each cell."""
        query = Count(epsilon)
        if parts := self._parts(query):
            return np.concatenate([part.totals(epsilon) for part, _ in parts])
        return self._executor.draw(query, self._place, self._account, query.draw)

    def counts(self, column: str, epsilon: Epsilon) -> IntArray:
        """Noisy counts of a column, of shape (cells, codes)."""
        query = Counts((column,), epsilon)
        if parts := self._parts(query, MOST_COUNTS):
            return np.concatenate([part.counts(column, epsilon) for part, _ in parts])
        return self._executor.draw(query, self._place, self._account, query.draw)[:, :, 0]

    def histograms(
        self, columns: Sequence[Sequence[str]], label: str | None, epsilon: Epsilon
    ) -> list[dict[str, IntArray]]:
        """For each cell and each of its columns noisy counts of shape (codes, labels)."""
        query = Histograms(tuple(map(tuple, columns)), label, epsilon)
        if parts := self._parts(query):
            answers = [part.histograms(columns[at], label, epsilon) for part, at in parts]
            return [one for answer in answers for one in answer]
        return self._executor.draw(query, self._place, self._account, query.draw)

    def choose(
        self,
        among: Sequence[Sequence[Candidate]],
        label: str,
        criterion: Criterion,
        selection: Selection,
        epsilon: Epsilon,
    ) -> list[Split]:
        """A privately chosen split of each cell, among its own candidates."""
        trusted = criterion_named(criterion)
        query = Choose(tuple(map(tuple, among)), label, trusted, selection, epsilon)
        if parts := self._parts(query):
            answers = [
                part.choose(among[at], label, criterion, selection, epsilon) for part, at in parts
            ]
            return [one for answer in answers for one in answer]
        return self._executor.draw(query, self._place, self._account, query.draw)

    def choose_with_local_sensitivity(
        self,
        among: Sequence[Sequence[Candidate]],
        label: str,
        sizes: Sequence[int],
        epsilon: Epsilon,
    ) -> list[Split]:
        """The selection of Fletcher & Islam (2015). Not differentially private: for study only."""
        if self._executor.has_ledger:
            raise RefusedVariant(
                "a selection with local sensitivity is not differentially private and is refused "
                "on a table with a ledger."
            )
        query = LocalGini(
            tuple(map(tuple, among)),
            label,
            Gini(),
            Selection.EXPONENTIAL,
            epsilon,
            tuple(sizes),
        )
        if parts := self._parts(query):
            answers = [
                part.choose_with_local_sensitivity(among[at], label, sizes[at], epsilon)
                for part, at in parts
            ]
            return [one for answer in answers for one in answer]
        return self._executor.draw(query, self._place, self._account, query.draw)

    def modes(self, column: str, selection: Selection, epsilon: Epsilon) -> IntArray:
        """The privately chosen most frequent code of each cell."""
        query = Mode(column, selection, epsilon)
        if parts := self._parts(query):
            return np.concatenate([part.modes(column, selection, epsilon) for part, _ in parts])
        return self._executor.draw(query, self._place, self._account, query.draw)

    def ensemble(
        self, routers: Sequence[Cells], label: str | None, epsilon: Epsilon
    ) -> list[IntArray]:
        """Noisy label counts of the leaves of several trees, from one scan of all rows."""
        if self._place.cells.nodes:
            raise PlanError("an ensemble counts a whole table, before it is split.")
        query = Ensemble(tuple(routers), label, epsilon)
        return self._executor.draw(query, self._place, self._account, query.draw)

    def agreeing(
        self, routers: Sequence[Cells], label: str | None, epsilon: Epsilon
    ) -> list[IntArray]:
        """The same, less noisy where trees have few leaves; see :class:`AgreeingCounts`."""
        if self._place.cells.nodes:
            raise PlanError("tables count a whole table, before it is split.")
        query = AgreeingCounts(tuple(routers), label, epsilon)
        return self._executor.draw(query, self._place, self._account, query.draw)

    def spread(self, sizes: Sequence[int], epsilon: Epsilon) -> Spread:
        """How far the noise of such counts reaches. Public: it costs nothing."""
        return spread(sizes, epsilon.fraction / self._executor.terms.steps)

    def additive(
        self, blocks: Sequence[Block], label: str, prior: IntArray, rows: int, epsilon: Epsilon
    ) -> tuple[IntArray, list[IntArray]]:
        """Intercept and tables of an additive model, fitted at once; see :class:`AdditiveFit`."""
        if self._place.cells.nodes:
            raise PlanError("an additive model is fitted to a whole table, before it is split.")
        fit = AdditiveFit(tuple(blocks), label, tuple(prior.tolist()), rows, epsilon)
        return self._executor.fit(fit, self._place, self._account)

    def mends(
        self,
        model: AdditiveModel,
        blocks: Sequence[Block],
        columns: int,
        cells: int,
        each: Sequence[Epsilon],
    ) -> list[tuple[tuple[int, ...], IntArray]]:
        """Tables on top of a released model: the blocks that each is of, and scores; see `Mending`."""
        if self._place.cells.nodes:
            raise PlanError("a model is mended on a whole table, before it is split.")
        fit = Mending(model, tuple(blocks), columns, cells, tuple(each))
        return self._executor.fit(fit, self._place, self._account)

    def points(self, scores: Scorecards, label: str, epsilon: Epsilon) -> DrawnScorecard:
        """A scorecard, drawn at once; see :class:`DrawnScores`."""
        return self._executor.fit(DrawnScores(label, epsilon, scores), self._place, self._account)

    def scored(self, card: DrawnScorecard, label: str, epsilon: Epsilon) -> IntArray:
        """Noisy counts of the rows by points and label; see :class:`ScoredCounts`."""
        return self._executor.fit(ScoredCounts(card, label, epsilon), self._place, self._account)

    def best(
        self,
        models: Sequence[Model],
        label: str,
        epsilon: Epsilon,
        handicaps: Sequence[int] = (),
        forgiven: Sequence[int] = (),
    ) -> int:
        """The place of the model that predicts most rows right, privately chosen; see `BestModel`."""
        if self._place.cells.nodes:
            raise PlanError("models are compared on a whole table, before it is split.")
        query = BestModel(tuple(models), label, epsilon, tuple(handicaps), tuple(forgiven))
        return self._executor.fit(query, self._place, self._account)

    def split(self, splits: Sequence[Split]) -> Level:
        """The children of all cells, in order: one per value, below and above a threshold, or one
        value and the rest."""
        cells = self._place.cells.refine(split_nodes(self.schema, splits))
        return Level(self._executor, self._account, self._place.where, cells)

    def group(self, groups: Mapping[str, Sequence[int]]) -> dict[str, Level]:
        """Part the cells into groups that spend on their own.

        Privacy
        -------
        The groups are disjoint sets of disjoint cells of one version of the rows: together they
        cost the maximum of what each of them spends (parallel composition). The partition is known
        by the cells of its groups and a group by its number. Another grouping is another partition,
        so that the two add up.
        """
        members = [cell for cells in groups.values() for cell in cells]
        if len(set(members)) < len(members):
            raise PlanError("a cell can be in one group only.")
        regions = [self._place.describe(), list(map(list, groups.values()))]
        partition = self._account.partition(digest(regions))
        return {
            key: Level(
                self._executor,
                partition.part(str(number)),
                self._place.where,
                self._place.cells.only(cells),
            )
            for number, (key, cells) in enumerate(groups.items())
            if cells
        }

    def _parts(self, query: Query, most: int = MOST_COUNTERS) -> list[tuple[Level, slice]]:
        """Runs of cells that can be counted at once; none if all of them can.

        Privacy
        -------
        The runs are groups: each is asked the same question for the same epsilon, so that together
        they cost what the level would have cost.
        """
        question = query.question(self._place)
        width = question.labels(self.schema) * (
            1 + sum(self.schema[name].cells for name in question.columns)
        )
        at_once = max(min(most, MOST_COUNTERS) // width, 1)
        if len(self) <= at_once:
            return []
        starts = range(0, len(self), at_once)
        runs = {str(i): range(i, min(i + at_once, len(self))) for i in starts}
        levels = self.group(runs)
        return [(levels[key], slice(run.start, run.stop)) for key, run in runs.items()]


def split_nodes(schema: Schema, splits: Sequence[Split]) -> dict[int, Branch | Cut]:
    """The nodes that take the places of the cells."""
    return {i: node_of(*split, schema[split[0]].cells) for i, split in enumerate(splits)}
