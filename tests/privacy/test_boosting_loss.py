"""Corrections of a model: margins by brute force, the law of every draw and its loss by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.model import AdditiveModel, Term
from bocage.private import Block
from bocage.private.executor import LiveExecutor
from bocage.private.objective import boosting as module
from bocage.private.objective import interactions
from bocage.private.objective.boosting import Boosting
from bocage.private.objective.margins import corrected
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of
from private.joint.tree.test_sampler import every_walk
from private.noises import SilentNoise

BLOCKS = (Block(("a",), (2,), (2,)), Block(("n",), (2,), (2,)), Block(("b",), (2,), (2,)))
NAMES = ("a", "b", "n", "label")
CELL = (lambda r: r[0], lambda r: r[2] // 2, lambda r: r[1])  # of a record in each block


def schema_of(labels):
    return Schema(
        "t",
        (Categorical("a", ("x", "y")), Categorical("b", ("p", "q")), Numeric("n", 0, 4, 4)),
        Categorical("label", tuple("012"[:labels])),
        row_cap=200,
    )


def model_of(schema, rng=None):
    labels = schema["label"].cells
    shapes = [(("a",), 2), (("b",), 2), (("n",), 4)]

    def scores(*shape):
        """Few different numbers, so that sums are often equal or a step apart."""
        whole = rng.integers(-8, 9, shape) if rng else np.zeros(shape, np.int64)
        return whole * 256

    terms = tuple(Term(names, (size,), scores(size, labels)) for names, size in shapes)
    return AdditiveModel(schema, scores(labels), terms, certificate_of(schema))


def columns_of(schema, records):
    every = dict(zip(NAMES, zip(*records, strict=True) if records else [()] * 4, strict=True))
    return {
        name: [schema[name].values[v] for v in every[name]]
        if isinstance(schema[name], Categorical)
        else [v + 0.5 for v in every[name]]
        for name in NAMES
    }


class Listening(SilentNoise):
    """Keeps what is proposed, and takes the walk of the largest weights."""

    def __init__(self):
        self.proposals = []

    def draw_by_rejection(self, proposal, rate, total):
        outcome = proposal(self).outcome
        if isinstance(outcome, tuple):  # else it was only asked whether there are walks
            self.proposals.append((proposal, rate, total))
        return outcome

    @staticmethod
    def choose(weights):
        return int(weights.argmax())

    @staticmethod
    def choose_each(weights):
        return weights.argmax(axis=1)


def correct(
    records,
    model,
    *,
    each=("1",),
    blocks=BLOCKS,
    columns=1,
    cells=8,
    adjacency=Adjacency.ADD_REMOVE,
):
    """What is drawn by the largest weights, and what was proposed."""
    noise, schema = Listening(), model.schema
    engine = MemoryEngine(columns_of(schema, records), schema)
    executor = LiveExecutor(Terms(schema, adjacency), engine, noise)
    level = PrivateTable(executor, MemoryAccount.of(Epsilon.of(10)), WHOLE).reserve(10, "corrections")
    drawn = level.fit(Boosting(model, blocks, columns, cells, tuple(map(Epsilon.of, each))))
    return drawn, noise.proposals


def right_with(model, drawn, record):
    """Whether a record is predicted right with tables on top, by the sums of the scores alone."""
    sums = model.intercept + sum(term.scores[cell] for term, cell in zip(model.terms, record, strict=False))
    for columns, scores in drawn:
        cell = 0
        for i in columns:
            cell = 2 * cell + CELL[i](record)
        sums = sums + scores[cell]
    return int(sums.argmax()) == record[3]


def kinds(labels):
    return list(product(range(2), range(2), range(4), range(labels)))


def test_exclusive_or_is_found_in_the_one_pair_that_has_it_and_raised_there():
    model = model_of(schema_of(2))
    records = [(a, b, n, a ^ (n >= 2)) for a in (0, 1) for b in (0, 1) for n in range(4)]
    ((columns, scores),), _ = correct(records, model, each=("5",), columns=2)
    assert columns == (0, 1)
    assert (scores[:, 1] > scores[:, 0]).tolist() == [False, True, True, False]
    assert sum(right_with(model, [(columns, scores)], record) for record in records) == 16


def test_the_next_table_stands_on_those_before():
    """What the first table corrects is no reason for a second."""
    model = model_of(schema_of(2))
    records = 9 * [(a, b, n, a ^ (n >= 2)) for a in (0, 1) for b in (0, 1) for n in range(4)]
    drawn, proposals = correct(records, model, each=("3", "2"), blocks=BLOCKS[:2], columns=2)
    assert [rate for _, rate, _ in proposals] == [3, 2]
    assert not drawn[1][1].any()
    best = max(walked.score for walked, _ in every_walk(proposals[1][0]))
    assert best == len(records)


@pytest.mark.parametrize("group", [1, 2**13])
@pytest.mark.parametrize("labels", [2, 3])
def test_three_columns_together_are_found_and_counted_right(labels, group, monkeypatch):
    """Whether an odd number of three conditions holds: no two of them say anything."""
    monkeypatch.setattr(interactions, "GROUP", group)
    model = model_of(schema_of(labels))
    records = 5 * [(a, b, n, a ^ b ^ (n >= 2)) for a in (0, 1) for b in (0, 1) for n in range(4)]
    records += [(0, 0, 0, labels - 1)]  # an odd number of rows
    drawn, ((walk, _, _),) = correct(records, model, each=("3",), columns=3)
    assert drawn[0][0] == (0, 1, 2)
    score = sum(right_with(model, drawn, record) for record in records)
    assert score == 80
    assert walk(Listening()).score == score


def test_a_table_may_grow_from_one_that_was_drawn_before():
    model = model_of(schema_of(2))
    odd = [(a, b, n, a ^ b ^ (n >= 2)) for a in (0, 1) for b in (0, 1) for n in range(4)]
    plain = [(a, b, n, a ^ b) for a in (0, 1) for b in (0, 1) for n in range(4)]
    drawn, proposals = correct(3 * odd + plain, model, each=("2", "3"), columns=2)
    assert [columns for columns, _ in drawn] == [(0, 2), (0, 1, 2)]
    found = {walked.outcome[0] for walked in some_walks(proposals[1][0])}
    assert found == {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)}
    drawn, _ = correct(3 * odd + plain, model, each=("2", "3"), columns=2, cells=4)
    assert len(drawn[1][0]) < 3  # eight cells would be too many


def some_walks(walk):
    """One walk for each first choice: the largest weights after it."""

    class First(Listening):
        def __init__(self, place):
            self.place = place

        def choose(self, weights):
            self.count = len(weights)
            return self.place

    first = First(0)
    yield walk(first)
    for place in range(1, first.count):
        yield walk(First(place))


@pytest.mark.parametrize("labels", [2, 3])
def test_a_margin_says_which_changes_make_a_row_right(labels):
    rng = np.random.default_rng(labels)
    steps = len(module.STEPS)
    margins = labels * (steps + 1 + (steps + 1) ** (labels - 1))
    assert corrected(labels, steps).shape == (margins, 1 + labels * steps)
    for _ in range(40):
        model = model_of(schema_of(labels), rng)
        record = kinds(labels)[rng.integers(len(kinds(labels)))]
        _, ((walk, _, _),) = correct([record], model, blocks=BLOCKS[:1])
        for walked, _ in every_walk(walk):
            assert walked.score == right_with(model, [walked.outcome], record)


def table_prior(cells, raised, changes):
    """One of `CALM` cells is raised, by one of so many changes."""
    chance = Fraction(1, module.CALM)
    return (1 - chance) ** (cells - raised) * (chance / changes) ** raised


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 3), st.integers(0, 9))
def test_the_law_of_a_draw_is_prior_times_weight(seed, labels, rows):
    """All tables listed apart from the code under test: prior, score, and the sum that is proposed."""
    rng = np.random.default_rng(seed)
    model, changes = model_of(schema_of(labels), rng), labels * len(module.STEPS)
    records = [kinds(labels)[i] for i in rng.integers(0, len(kinds(labels)), rows)]
    blocks = (BLOCKS[0], BLOCKS[2])
    _, ((walk, rate, total),) = correct(records, model, blocks=blocks, each=("0.75",))
    assert rate == Fraction(3, 4)
    weights = []
    for walked, chance in every_walk(walk):
        (column,), scores = walked.outcome
        sums = [
            model.intercept + sum(t.scores[c] for t, c in zip(model.terms, r, strict=False)) + scores[r[column]]
            for r in records
        ]  # fmt: skip
        assert walked.score == sum(int(s.argmax()) == r[3] for s, r in zip(sums, records, strict=True))  # fmt: skip
        raised = np.count_nonzero(scores.any(axis=1))
        prior = Fraction(1, 2) * table_prior(2, int(raised), changes)
        assert Fraction(*walked.odds) == prior
        weight = log(prior) + float(rate) * walked.score
        assert chance == pytest.approx(weight - total, abs=1e-9)  # the contract of a walk
        weights.append(weight)
    assert len(weights) == 2 * (1 + changes) ** 2
    assert total == pytest.approx(log(fsum(map(exp, weights))), abs=1e-9)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_law_of_a_draw_has_the_prior_of_its_columns(columns, monkeypatch):
    """A second draw, with tables that grow from the first: prior and score of all of them, listed apart."""
    monkeypatch.setattr(module, "STEPS", (1024,))
    rng = np.random.default_rng(columns)
    model = model_of(schema_of(2), rng)
    records = [kinds(2)[i] for i in rng.integers(0, len(kinds(2)), 12)]
    drawn, (_, (walk, rate, total)) = correct(
        records, model, blocks=BLOCKS[:2] if columns > 1 else BLOCKS, columns=columns, each=("1", "0.5")
    )  # fmt: skip
    (first,), grown = drawn[0][0][:1], 2 if columns == 1 else 0
    kind = {1: 2 * 3, 2: 2 * grown} if columns == 1 else {1: 2 * 2, 2: 2 * 1}  # one over the prior
    weights = []
    for walked, chance in every_walk(walk):
        own, scores = walked.outcome
        assert columns == 2 or len(own) == 1 or first in own
        assert walked.score == sum(right_with(model, [drawn[0], walked.outcome], r) for r in records)  # fmt: skip
        cells, raised = 2 ** len(own), int(np.count_nonzero(scores.any(axis=1)))
        prior = table_prior(cells, raised, 2) / kind[len(own)]
        assert Fraction(*walked.odds) == prior
        weights.append(log(prior) + float(rate) * walked.score)
        assert chance == pytest.approx(weights[-1] - total, abs=1e-9)
    assert len(weights) == (3 * 3**2 + grown * 3**4 if columns == 1 else 2 * 3**2 + 3**4)
    assert total == pytest.approx(log(fsum(map(exp, weights))), abs=1e-9)


def law(records, model, adjacency, factor):
    """The logarithms of the probabilities of all tables, at the rate that was proposed or a multiple."""
    *_, (walk, rate, _) = correct(records, model, each=("1.5",), blocks=BLOCKS[:2], columns=2, adjacency=adjacency)[1]
    weights = [log(Fraction(*walked.odds)) + factor * float(rate) * walked.score for walked, _ in every_walk(walk)]
    return np.array(weights) - np.logaddexp.reduce(weights)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_record_more_costs_epsilon_and_no_more(labels, adjacency, monkeypatch):
    monkeypatch.setattr(module, "STEPS", (1024,))
    rng = np.random.default_rng(labels)
    replaced = adjacency is Adjacency.REPLACE
    worst, hasty = [], []
    for _ in range(3):
        model = model_of(schema_of(labels), rng)
        records = [kinds(labels)[i] for i in rng.integers(0, len(kinds(labels)), 5)]
        for kind in kinds(labels)[::3]:
            for losses, factor in ((worst, 1), (hasty, 2)):
                tables = records, [*records[replaced:], kind]
                here, there = (law(one, model, adjacency, factor) for one in tables)
                losses.append(float(np.abs(here - there).max()))
    assert max(worst) <= 1.5 + 1e-9
    assert max(worst) > 1  # the price is not far from what is used
    assert max(hasty) > 1.6  # twice the rate would be caught


def test_replaced_records_get_half_the_rate():
    model = model_of(schema_of(2))
    rates = [correct([], model, adjacency=a)[1][0][1] for a in Adjacency]
    assert rates[0] == 2 * rates[1]


def test_what_cannot_be_corrected_is_refused_before_a_charge():
    schema = schema_of(2)
    model, one = model_of(schema), [Epsilon.of(1)]
    engine = MemoryEngine(columns_of(schema, []), schema)
    executor = LiveExecutor(Terms(schema, Adjacency.ADD_REMOVE), engine, SilentNoise())
    level = PrivateTable(executor, MemoryAccount.of(Epsilon.of(10)), WHOLE).reserve(10, "corrections")

    def refused(words, model=model, *, blocks=BLOCKS, columns=2, cells=8, each=one):
        with pytest.raises(PlanError, match=words):
            level.fit(Boosting(model, tuple(blocks), columns, cells, tuple(each)))

    refused("in a round at least", each=[])
    refused("by a block at least", blocks=())
    refused("other than the label", blocks=(BLOCKS[0], Block(("label",), (2,), (2,))))
    refused("one column each", blocks=(Block(("a", "b"), (2, 2), (4,)),))
    refused("each of another", blocks=(BLOCKS[0], BLOCKS[0]))
    refused("own schema", model_of(schema_of(3)))
    refused("no more than there are", columns=4)
    refused("a column at least", columns=0)
    refused("2 to 3 cells", blocks=(Block(("n",), (4,), (4,)),), columns=1, cells=3)
    refused("at most 512 cells", cells=513)
    assert level.remaining() == Epsilon.of(10)


def test_epsilon_is_the_sum_of_all_tables():
    fit = Boosting(model_of(schema_of(2)), BLOCKS, 2, 8, (Epsilon.of("0.1"), Epsilon.of("0.25")))
    assert str(fit.epsilon) == "0.35"
