"""An executor that keeps what the mechanisms were really told, and random tables to spy on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import strategies as st

from bocage.engine.reference import ReferenceEngine
from bocage.learners import DPDF, DiffPC45, DiffPID3, PrivateID3, SulqID3
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.plan import Cells
from bocage.private.choose import Choose, Mode
from bocage.private.count import Counts
from bocage.private.criteria import Doubled
from bocage.private.executor import LiveExecutor
from bocage.private.joint.mixture import OneOf
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.joint.temperature import UNITS, rates_of
from bocage.private.joint.tree.sampler import DrawnTrees
from bocage.private.objective.boosting import Boosting
from bocage.private.objective.fit import AdditiveFit
from bocage.private.query import Fit, Query, Terms
from bocage.private.tables.comparison import BestModel
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.private.tables.histograms import Histograms
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentNoise

GREEDY = {kind.name: kind for kind in (SulqID3, DiffPID3, DiffPC45, PrivateID3, DPDF)}


class Recorder:
    """Passes on to a noise provider and keeps scales and rates."""

    name = "recorder"

    def __init__(self, inner):
        self.inner, self.scales, self.rates, self.bodies = inner, [], [], []

    def laplace(self, scale, size):
        self.scales.append(scale)
        return self.inner.laplace(scale, size)

    def select(self, contests, selection):
        self.rates += [contest.rate for contest in contests]
        return self.inner.select(contests, selection)

    def draw_by_rejection(self, proposal, rate, total):
        self.rates.append(rate)
        return self.inner.draw_by_rejection(proposal, rate, total)

    def perturb(self, bodies):
        self.bodies = list(bodies)  # the last ones: before them came what the query rehearsed
        return self.inner.perturb(bodies)

    def forget(self):
        scales, rates, self.scales, self.rates = self.scales, self.rates, [], []
        return scales, rates


class CountingEngine(ReferenceEngine):
    """Counts its scans."""

    def __init__(self, columns, schema):
        super().__init__(columns, schema)
        self.scans = 0

    def answer(self, questions):
        self.scans += 1
        return super().answer(questions)

    def rows(self, question):
        self.scans += 1
        return super().rows(question)


@dataclass(frozen=True)
class Draw:
    """One question: where it was asked, and what the noise provider was told."""

    query: Query | Fit
    cells: Cells
    scales: list[Fraction]
    rates: list[Fraction]
    bodies: list = field(default_factory=list)

    def used(self, cell, terms):
        """Epsilon that this question used on the records of one cell."""
        if isinstance(self.query, ConsistentCounts):  # every label has noise of its own
            labels = 1 if self.query.label is None else terms.schema[self.query.label].cells
            return sum(body.rate for body in self.bodies) * terms.steps / labels
        if isinstance(self.query, AdditiveFit):  # of two labels
            return sum(body.rate for body in self.bodies) * terms.steps
        if isinstance(self.query, Boosting):
            return sum(self.rates) * terms.steps
        if isinstance(self.query, BestModel):
            unit = 100 if self.query.forgiven else 1
            return self.rates[-1] * unit * terms.steps
        if isinstance(self.query, Choose):
            criterion = self.query.criterion
            true = criterion.criterion if isinstance(criterion, Doubled) else criterion
            return self.rates[cell] * true.range(terms.schema) * terms.steps
        if isinstance(self.query, Histograms):
            sizes = [len(names) for names in self.query.columns]
            first = sum(sizes[:cell])
            return sum(terms.steps / s for s in self.scales[first : first + sizes[cell]])
        if isinstance(self.query, Mode) and self.query.each:
            return self.rates[cell] * terms.steps
        if isinstance(self.query, DrawnTrees | DrawnScores | OneOf):
            own = getattr(self.query, "each", (self.query.epsilon,))[cell]
            tempered = len(rates_of(terms.rate(1, own))) > 1  # scores are counted in units then
            return self.rates[cell] * (UNITS if tempered else 1) * terms.steps
        if isinstance(self.query, Counts) and self.query.each:  # one scale for each different epsilon, rising
            nanos = sorted({one.nano for one in self.query.each})
            return terms.steps / self.scales[nanos.index(self.query.each[cell].nano)]
        (scale,) = self.scales
        tables = len(self.query.routers) if isinstance(self.query, Ensemble) else 1
        return tables * terms.steps / scale


@dataclass(frozen=True)
class SpyExecutor(LiveExecutor):
    draws: list[Draw] = field(default_factory=list)

    def draw(self, query, place, payer):
        result = super().draw(query, place, payer)
        scales, rates = self.noise.forget()
        rates = rates[-place.cells.count :]  # before them came what the query rehearsed
        self.draws.append(Draw(query, place.cells, scales, rates, self.noise.bodies))
        return result

    def fit(self, fit, place, payer):
        result = super().fit(fit, place, payer)
        scales, rates = self.noise.forget()
        own = getattr(fit, "cells", None)
        cells = own if isinstance(own, Cells) else place.cells
        most = len(fit.each) if isinstance(fit, Boosting) else cells.count
        self.draws.append(Draw(fit, cells, scales, rates[-most:], self.noise.bodies))
        return result

    def used_by(self, record):
        """Epsilon used on all cells that one record (its codes) passes through."""
        codes = {name: np.array([code]) for name, code in record.items()}
        total = Fraction(0)
        for draw in self.draws:
            (cell,) = draw.cells.route(codes, 1).tolist()
            if cell >= 0:
                total += draw.used(cell, self.terms)
        return total


def spy_executor(schema, rows, *, silent=False, adjacency=Adjacency.ADD_REMOVE, has_ledger=True):
    noise = Recorder(SilentNoise() if silent else SystemNoise())
    return SpyExecutor(Terms(schema, adjacency), CountingEngine(rows, schema), noise, has_ledger=has_ledger)


def categoricals(most_values=4):
    return st.integers(1, most_values).map(lambda n: tuple(f"v{i}" for i in range(n)))


@st.composite
def schemas(draw, *, numeric):
    """Up to four attributes, of which at least one can be split."""
    kinds = draw(st.lists(st.booleans(), min_size=0, max_size=3)) if numeric else []
    attributes = [
        Numeric(f"x{i}", lower=0, upper=draw(st.integers(1, 5) | st.just(200)), step=1) for i in range(len(kinds))
    ]
    values = draw(st.lists(categoricals(), min_size=0 if attributes else 1, max_size=4))
    attributes += [Categorical(f"a{i}", v) for i, v in enumerate(values)]
    if all(a.cells == 1 for a in attributes):
        attributes.append(Categorical("split", ("v0", "v1")))
    labels = tuple(f"l{i}" for i in range(draw(st.integers(2, 3))))
    return Schema("made", tuple(attributes), label=Categorical("label", labels), row_cap=64)


def some_rows(schema, seed, size):
    random = Random(seed)  # noqa: S311 - rows for a test
    columns = {column.name: [] for column in schema}
    for _ in range(size):
        for column in schema:
            code = random.randrange(column.cells)
            value = column.values[code] if isinstance(column, Categorical) else float(column.value(code))
            columns[column.name].append(value)
    return columns


def some_records(schema, seed, size=25):
    """Codes of records that may or may not be in the table."""
    random = Random(seed)  # noqa: S311 - rows for a test
    return [{c.name: random.randrange(c.cells) for c in schema} for _ in range(size)]
