"""Tables of noisy counts: naive Bayes or a joint fit, and pairs of attributes where data are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from typing import ClassVar

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.attribute_selection import select
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.bayes.log_odds import (
    Evidence,
    Law,
    Pair,
    naive,
    power,
    prior_of,
    with_consistent_totals,
    with_pairs,
)
from bocage.learners.bayes.maxent import fits, laws
from bocage.learners.discretization import Spreads, count_spreads
from bocage.learners.noisy_tables import count_tables
from bocage.learners.plan import Plan, Step
from bocage.model import AdditiveModel, Certificate, Term
from bocage.model.additive.model import UNIT
from bocage.model.bins import Cuts, starts_of
from bocage.model.tree.shape import MOST_ENTRIES
from bocage.private import (
    BestModel,
    Counts,
    EpsilonLike,
    IntArray,
    OpenCells,
    PrivateTable,
    Selection,
    capabilities,
)
from bocage.private.capabilities import Capability
from bocage.schema import Categorical, Numeric, Schema

CLASSES = "class counts"
SINGLES = "tables of single attributes, after attributes and cells are chosen if need be, at least"
NOISE = "noise on tables that agree"
PAIRS, CHOICE = "tables of pairs", "choice between naive and fitted tables"
SHARES = (5, 58, 33, 4)  # per cent of epsilon, in this order
ALONE = (5, 91, 4)  # ... without pairs
CELLS = 8  # of a numeric attribute
SIGNAL = 5  # records times epsilon for each cell and label of the pairs together
FEEDS = 2  # ... of single attributes, without which these are chosen
MOST_PAIRS = 66  # of 12 attributes
TOLD_APART = 40  # records times the epsilon of a choice, from which on it is worth its price


@dataclass(frozen=True)
class Bayes(Learner):
    """Log-odds of single attributes and of pairs that add up, from noisy counts.

    Each attribute is counted by label. Where there are enough records, so are all pairs of the
    attributes that say most. The log-odds are those of naive Bayes, where a pair adds what its two
    attributes say together beyond what they say one by one; or they are fitted at once, so that
    the model explains all counts (:mod:`bocage.learners.bayes.maxent`). It is made for many labels.

    Parameters
    ----------
    pairs
        Whether pairs may have tables.
    attributes
        Those that have a table; None for all.

    Privacy
    -------
    5 % of epsilon pay for the class counts (sensitivity 1, discrete Laplace). They give the number of
    rows and of frequent labels, on which it depends whether there are pairs. With less than 2 records times epsilon for
    each number in the tables of a frequent label, 30 % of the rest choose which attributes have a table, see
    :func:`~bocage.learners.attribute_selection.select`. A record is in one cell of each table, with one label, and so
    moves the sums of all tables of that label alike: the tables are one release with noise that knows it, see
    :class:`~bocage.private.tables.consistent_counts.ConsistentCounts`. Tables of more than 32 cells have discrete
    Laplace noise of sensitivity k, for k of them, and the share of epsilon of their number. Where the number of rows
    allows it, 2 to 5 % of the rest pay for counts of the numeric attributes without labels, and 2 to 10 % each for one
    or two more rounds if there are uneven ones, which are cut by these; see
    :func:`~bocage.learners.discretization.count_spreads`. With pairs, both and the tables of single attributes have 58
    % of epsilon; which attributes are paired follows from what was released, and the tables of pairs are counted
    likewise, for 33 %. The log-odds made of them, naive and fitted, are post-processing. The last 4 % choose one of
    these models, by permute-and-flip: the score of a model is how many rows it predicts right, which one more record
    raises by 0 or 1 for each (monotone, range 1). Without pairs the tables of single attributes get their share too;
    and that of the choice, where the class counts say that there are too few records for it. Sequential composition.
    """

    name: ClassVar[str] = "bayes"
    paper: ClassVar[str] = (
        "Bocage: naive Bayes or maximum entropy, after James & Stein 1961, "
        "Berger, Della Pietra & Della Pietra 1996 and Hardt & Talwar 2010"
    )
    numeric: ClassVar[bool] = True
    pairs: bool = True
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        self.check(schema)
        budget = budget_of(epsilon, 400, self.name)
        laplace, choice = "discrete Laplace", Selection.PERMUTE_AND_FLIP.words
        words = [(CLASSES, laplace), (SINGLES, NOISE), (PAIRS, NOISE), (CHOICE, choice)]
        if not self.pairs:
            words.remove((PAIRS, NOISE))
        shares = budget.split(SHARES if self.pairs else ALONE)
        steps = [Step(0, *step, share) for step, share in zip(words, shares, strict=True)]
        return Plan(self.name, budget, tuple(steps))

    def check(self, schema: Schema) -> tuple[str, ...]:
        if not isinstance(self.pairs, bool):
            raise LearnerError(f"{self.name}: pairs is true or false, not {self.pairs!r}.")
        names = super().check(schema)
        labels = label_of(schema).cells
        if any(size * labels > MOST_ENTRIES for size in self.sizes(schema, names)):
            raise LearnerError(
                f"{self.name}: a table would have more than {MOST_ENTRIES} counts. "
                "Name fewer attributes, or declare fewer values."
            )
        return names

    def requires(self, schema: Schema) -> tuple[Capability, ...]:  # noqa: ARG002 - whatever it declares
        return (capabilities.tables,)

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> AdditiveModel:
        plan = self.plan(table.schema, epsilon)
        start = self.reserve(table, plan)
        progress(0, 2)
        share = plan.share(0, CLASSES)
        counts = start.ask(Counts((label_of(table.schema).name,), share))[0]
        progress(1, 2)
        counted = counts, start.deviation(share) ** 2
        rest = Epsilon(plan.budget.nano - share.nano)
        model = self.tables(start, *counted, rest, self.certificate(start))
        progress(2, 2)
        return self.certified(model, start)

    def tables(
        self,
        start: OpenCells,
        counts: IntArray,
        variance: float,
        epsilon: Epsilon,
        certificate: Certificate,
    ) -> AdditiveModel:
        """Count all tables, given noisy class counts and the variance of their noise."""
        schema, label = start.schema, label_of(start.schema).name
        names = self.check(schema)
        each = zip(names, self.sizes(schema, names), strict=True)
        numbers = {name: float(size - 1) for name, size in each}
        support = self.room(counts, float(epsilon), FEEDS)
        names, epsilon = select(start, numbers, support, epsilon)
        sizes = self.sizes(schema, names)
        spreads, left = self.spreads(start, names, counts, epsilon)
        uneven = [spreads.cuts(name, size) for name, size in zip(names, sizes, strict=True)]
        cells = zip(names, sizes, uneven, strict=True)
        cuts = [starts_of(schema[name], size, own) for name, size, own in cells]
        shares = epsilon.split(SHARES[1:])
        room = self.room(counts, float(shares[1]), SIGNAL)
        average = exp(2 * sum(map(log, sizes)) / len(sizes))
        paired = self.pairs and len(sizes) > 1 and average <= room
        if not paired:
            told = int(counts.sum()) * float(shares[2]) >= TOLD_APART
            shares = epsilon.split(ALONE[1:]) if told and fits(sizes, len(counts)) else [epsilon]
        shares[0] -= epsilon - left
        counted = count_tables(start, [[pair] for pair in zip(names, cuts, strict=True)], shares[0])
        said = [(counts.astype(float), variance), *counted.totals]
        totals, singles = with_consistent_totals(counted.tables, said)
        shape = prior_of(totals), max(float(totals.sum()), 1.0)
        evidence = Evidence(*shape, singles, counted.variances, {}, {})
        if paired:
            chosen = self.chosen(evidence, room)
            both = [[(names[i], cuts[i]) for i in pair] for pair in chosen]
            two = count_tables(start, both, shares[1])
            _, moved = with_consistent_totals(two.tables, [(totals, 1.0)])
            pairs = {
                (a, b): table.reshape(sizes[a], sizes[b], len(totals))
                for (a, b), table in zip(chosen, moved, strict=True)
            }
            noise = dict(zip(chosen, two.variances, strict=True))
            better = with_pairs(singles, counted.variances, pairs, noise)
            evidence = Evidence(*shape, *better, pairs, noise)
        form = _Model(schema, names, uneven, certificate)
        if len(shares) == 1:
            return form.of(naive(evidence))
        models = [form.of(law) for law in laws(evidence)]
        return models[start.fit(BestModel(tuple(models), label, shares[-1]))]

    @staticmethod
    def room(counts: IntArray, epsilon: float, each: float) -> float:
        """How many cells tables may have, with `each` records times epsilon for a frequent label.

        Public arithmetic on released counts.
        """
        shares = np.maximum(counts, 1) / np.maximum(counts, 1).sum()
        frequent = exp(-float((shares * np.log(shares)).sum()))  # labels, the rare ones less than 1
        return float(max(int(counts.sum()), 0)) * epsilon / (each * frequent)

    @staticmethod
    def chosen(evidence: Evidence, room: float) -> list[Pair]:
        """All pairs of the attributes that say most, as many as there is room for."""
        law, tables = naive(evidence), evidence.singles
        sizes = [len(table) for table in tables]
        powers = [power(table, law[i,], evidence.prior) for i, table in enumerate(tables)]
        order = sorted(range(len(sizes)), key=lambda i: -powers[i])
        taken: list[int] = []
        for i in order:
            more = sum(sizes[i] * sizes[j] for j in taken)
            if more <= room and (len(taken) + 1) * len(taken) // 2 <= MOST_PAIRS:
                taken.append(i)
                room -= more
        if len(taken) == 1:  # whatever goes with it is too large: the two smallest then
            taken = sorted(order, key=lambda i: sizes[i])[:2]
        return list(combinations(sorted(taken), 2))

    @staticmethod
    def spreads(start: OpenCells, names: Sequence[str], counts: IntArray, epsilon: Epsilon) -> tuple[Spreads, Epsilon]:
        """How numeric attributes with more codes than cells are spread, and what is left."""
        columns = [start.schema[name] for name in names]
        coarse = [c for c in columns if isinstance(c, Numeric) and c.cells > CELLS]
        return count_spreads(start, coarse, max(int(counts.sum()), 1), epsilon)

    @staticmethod
    def sizes(schema: Schema, names: Sequence[str]) -> list[int]:
        """The cells of each attribute."""
        columns = [schema[name] for name in names]
        return [c.cells if isinstance(c, Categorical) else min(CELLS, c.cells) for c in columns]


@dataclass(frozen=True)
class _Model:
    """What a model has besides its log-odds."""

    schema: Schema
    names: tuple[str, ...]
    cuts: list[Cuts]
    certificate: Certificate

    def of(self, law: Law) -> AdditiveModel:
        scores = {at: np.rint(UNIT * own).astype(np.int64) for at, own in law.items()}
        terms = [
            Term(
                tuple(self.names[i] for i in at),
                own.shape[:-1],
                own.reshape(-1, own.shape[-1]),
                tuple(self.cuts[i] for i in at) if any(self.cuts[i] for i in at) else (),
            )
            for at, own in scores.items()
            if at
        ]
        return AdditiveModel(self.schema, scores[()], tuple(terms), self.certificate)
