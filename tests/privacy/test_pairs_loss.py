"""The choice of pairs: its distribution on neighbors by exact enumeration, its scores by hand."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency, Contest
from bocage.mechanisms.loss import permute_and_flip_probabilities, privacy_loss
from bocage.model import AdditiveModel, Term
from bocage.private import Block
from bocage.private.pairs import PAIR_BITS
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of
from private.noises import SilentNoise
from private.tables import table

HALF = 2**PAIR_BITS  # half a record, counted from both labels


def schema_of(labels):
    return Schema(
        "t",
        (Categorical("a", ("x", "y")), Categorical("b", ("p", "q")), Numeric("n", 0, 4, 4)),
        Categorical("label", tuple("012"[:labels])),
        row_cap=64,
    )


PAIRS = (Block(("a", "b"), (2, 2), (4,)), Block(("a", "n"), (2, 2), (4,)), Block(("b", "n"), (2, 4), (8,)))  # fmt: skip


def model_of(schema, rng=None):
    labels = schema["label"].cells
    shapes = [(("a",), 2), (("b",), 2), (("n",), 4)]
    terms = tuple(
        Term(names, (size,), rng.integers(-9000, 9000, (size, labels)) if rng else np.zeros((size, labels), np.int64))
        for names, size in shapes
    )  # fmt: skip
    intercept = rng.integers(-3000, 3000, labels) if rng else np.zeros(labels, np.int64)
    return AdditiveModel(schema, intercept, terms, certificate_of(schema))


class Keeper(SilentNoise):
    def __init__(self):
        self.contests = []

    def select(self, contests, selection):
        self.contests += contests
        return super().select(contests, selection)


def choice_of(schema, records, model, *, epsilon="1", least=0, adjacency=Adjacency.ADD_REMOVE):
    """What is chosen without noise, and the first contest."""
    names = [*(a.name for a in schema.attributes), "label"]
    columns = dict(zip(names, zip(*records, strict=True) if records else [()] * 4, strict=True))
    rows = {
        name: [schema[name].values[v] for v in columns[name]]
        if isinstance(schema[name], Categorical)
        else [v + 0.5 for v in columns[name]]
        for name in names
    }
    noise = Keeper()
    level = table(rows, schema, noise=noise, adjacency=adjacency).reserve(10, "pairs")
    chosen = level.pairs(model, PAIRS, (0, 1, 0), least=least, most=2, epsilon=Epsilon.of(epsilon))
    return chosen, noise.contests


def test_exclusive_or_is_found_in_the_one_pair_that_has_it():
    schema = schema_of(2)
    records = [(a, b, n, a ^ b) for a in (0, 1) for b in (0, 1) for n in range(4)]
    chosen, contests = choice_of(schema, records, model_of(schema))
    # every record is off by a half, for both labels: 16 halves, twice; n says nothing, less a handicap
    assert contests[0].scores.tolist() == [16 * HALF, -2 * HALF, 0, 0]
    assert contests[0].rate == Fraction(1, 2 * 2 * (2 * HALF + 1))
    assert chosen == [0, 2]
    assert contests[1].scores.tolist() == [-2 * HALF, 0, 0]


def test_a_place_stays_empty_if_no_pair_is_worth_it():
    schema = schema_of(2)
    records = [(a, b, n, a ^ b) for a in (0, 1) for b in (0, 1) for n in range(4)]
    assert choice_of(schema, records, model_of(schema), least=1)[0] == [0]
    assert choice_of(schema, records, model_of(schema), least=9)[0] == []


def test_replaced_records_get_half_the_rate():
    schema = schema_of(2)
    rates = [choice_of(schema, [], model_of(schema), adjacency=a)[1][0].rate for a in Adjacency]
    assert rates[0] == 2 * rates[1]


def sequences(scores, rate, most):
    """The probability of every outcome of `most` places."""
    found = {(): Decimal(1)}
    for _ in range(most):
        grown = {}
        for before, chance in found.items():
            left = [i for i in range(len(scores) - 1) if i not in before]
            contest = Contest(np.array([*(scores[i] for i in left), scores[-1]]), rate)
            for at, p in zip([*left, "none"], permute_and_flip_probabilities(contest), strict=True):
                grown[(*before, at)] = grown.get((*before, at), 0) + chance * p
        found = grown
    return [found[key] for key in sorted(found, key=str)]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_one_record_more_costs_no_more_than_epsilon(labels, epsilon):
    rng = np.random.default_rng(labels)
    schema = schema_of(labels)
    kinds = list(product(range(2), range(2), range(4), range(labels)))
    worst, furthest = Decimal(0), 0
    for _ in range(3):
        model = model_of(schema, rng)
        records = [kinds[i] for i in rng.integers(0, len(kinds), rng.integers(0, 7))]
        _, before = choice_of(schema, records, model, epsilon=epsilon)
        for kind in kinds[::3]:
            _, after = choice_of(schema, [*records, kind], model, epsilon=epsilon)
            furthest = max(furthest, np.abs(after[0].scores - before[0].scores).max())
            here, there = (sequences(c[0].scores, c[0].rate, 2) for c in (before, after))
            worst = max(worst, privacy_loss(here, there), privacy_loss(there, here))
    assert furthest <= 2 * HALF + 1
    assert furthest > 1.9 * HALF  # a record that is far off moves a score by one, for both labels
    assert worst <= Decimal(epsilon)
    assert worst > Decimal(epsilon) / 4  # the price is not far from what is used


def test_what_cannot_be_chosen_is_refused_before_a_charge():
    schema = schema_of(2)
    level = table({n: [] for n in ("a", "b", "n", "label")}, schema).reserve(10, "pairs")
    model, one = model_of(schema), Epsilon.of(1)
    with pytest.raises(PlanError, match="each with a handicap"):
        level.pairs(model, PAIRS, (0, 0), least=0, most=1, epsilon=one)
    with pytest.raises(PlanError, match="a pair for each place"):
        level.pairs(model, PAIRS, (0, 0, 0), least=0, most=4, epsilon=one)
    with pytest.raises(PlanError, match="the label cannot be"):
        level.pairs(
            model, (Block(("a", "label"), (2, 2), (4,)),), (0,), least=0, most=1, epsilon=one
        )
    other = model_of(schema_of(3))
    with pytest.raises(PlanError, match="own schema"):
        level.pairs(other, PAIRS, (0, 0, 0), least=0, most=1, epsilon=one)
    assert level.remaining() == Epsilon.of(10)
