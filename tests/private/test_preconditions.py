"""What a proof asks for is checked by code, before the charge: one case for each precondition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.model import AdditiveModel, Term
from bocage.plan import OUTSIDE, Branch, Cells
from bocage.private.choose import Candidate
from bocage.private.joint.mixture import OneOf
from bocage.private.joint.score.counts import ScoredCounts
from bocage.private.joint.score.family import DrawnScorecard, OrdinalScores, Scorecards
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.joint.tree.sampler import DrawnTrees, off_by
from bocage.private.objective.boosting import Boosting
from bocage.private.objective.fit import AdditiveFit
from bocage.private.preconditions import MOST_OFF, MOST_ROWS, rows_at_most
from bocage.private.query import Place, Terms
from bocage.private.table import WHOLE
from bocage.private.tables.comparison import BestModel
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.private.terms import Block
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of
from private.tables import table

ONE = Epsilon.of(1)
LABEL = Categorical("y", ("n", "p"))
MANY = Categorical("z", tuple(map(str, range(1025))))
SCHEMA = Schema(
    "t",
    (
        Categorical("a", ("u", "v")),
        Categorical("b", tuple(map(str, range(300)))),
        MANY,
        *[Numeric(f"x{i}", lower=0, upper=65535, step=1) for i in range(18)],
    ),
    LABEL,
    row_cap=2**40,
)
A, B = Block(("a",), (2,), (2,)), Block(("b",), (300,), (300,))
SPLIT_A = (Candidate("a"),)
WIDE = tuple(Candidate(f"x{i}", 1, 65535) for i in range(16))
LARGEST = (Candidate("b"), Candidate("z"), Candidate("x0", 1, 9))
PART = Place(WHOLE.where, Cells((Branch("a", (~0, OUTSIDE)),), 1), ("u",))
MODEL = AdditiveModel(
    SCHEMA,
    np.zeros(2, np.int64),
    (Term(("a",), (2,), np.zeros((2, 2), np.int64)),),
    certificate_of(SCHEMA),
)


def trees(among=SPLIT_A, depth=1, room=2, *, label="y", epsilon=ONE, cells=None):
    return DrawnTrees(cells or Cells(), (among,), label, depth, (room,), (epsilon,))


def ordinal(blocks=(A,), most=1, top=1, leaves=64, label="y"):
    return DrawnScores(label, ONE, OrdinalScores(blocks, most, top, leaves))


def cards(blocks=(A,), most=1, label="y"):
    return DrawnScores(label, ONE, Scorecards(blocks, most))


def boosting(blocks=(A,), columns=1):
    return Boosting(MODEL, tuple(blocks), columns, 4, (ONE,))


def scored(points=(0, 1)):
    return ScoredCounts(DrawnScorecard(((A, points),), 1, (0, 1)), "y", ONE)


def additive(label="y", rows=10):
    columns = SCHEMA[label].cells
    return AdditiveFit((A,), label, (0,) * (columns - (columns <= 3)), rows, ONE)


def halves(count):
    """So many columns of two cells each."""
    return tuple(Block((f"x{i}",), (2,), (2,)) for i in range(count))


SIXTEEN, EIGHTEEN = halves(16), halves(18)
REFUSED = {
    "trees: sums are off by too much": (trees(WIDE, 8, 1000, epsilon=Epsilon.of(5)), "row_cap"),
    "trees: more leaves than can be held": (trees(LARGEST, 8, 2**30), "4194304 leaves"),
    "trees: other cells than are paid for": (trees(cells=PART.cells), "paid for"),
    "trees: too many labels": (trees(label="z"), "1 to 1024 labels, not 1025"),
    "ordinal scores: too many labels": (ordinal(label="z"), "2 to 1024 labels, not 1025"),
    "ordinal scores: cells of more than eight bits": (ordinal((B,)), "256 cells"),
    "ordinal scores: more choices than can be listed": (ordinal(SIXTEEN, 16), "choices of columns"),
    "ordinal scores: more points than can be listed": (ordinal(top=2**21), "choices of points"),
    "scorecards: too many labels": (cards(label="z"), "2 to 1024 labels, not 1025"),
    "scorecards: cells of more than eight bits": (cards((B,)), "256 cells"),
    "boosting: more choices than can be listed": (boosting((A, *EIGHTEEN), 19), "262144 choices"),
    "additive: too many labels": (additive("z"), "2 to 1024 labels, not 1025"),
    "additive: a number of rows that is none": (additive(rows=2**63), "number of rows"),
    "scored: more counts than can be held": (scored((0, 2**40)), "1048576 counts"),
    "best: a handicap that no integer holds": (
        BestModel((MODEL,), "y", ONE, (2**80,)),
        "handicap",
    ),
}
WHOLE_ONLY = {
    "ordinal scores": ordinal(),
    "scorecards": cards(),
    "boosting": boosting(),
    "scored": scored(),
    "additive": additive(),
    "best": BestModel((MODEL,), "y", ONE),
    "one of": OneOf(trees(cells=PART.cells), (ordinal(),)),
}


def refused(ask, words):
    account = table({name: [] for name in (c.name for c in SCHEMA)}, SCHEMA)._account
    with pytest.raises(PlanError, match=words):
        ask(account)
    assert account.spent() == Epsilon(0)


def fitted(fit, place):
    executor = table({c.name: [] for c in SCHEMA}, SCHEMA)._executor
    return lambda account: executor.fit(fit, place, account)


@pytest.mark.slow
@pytest.mark.parametrize(("fit", "words"), REFUSED.values(), ids=REFUSED)
def test_what_a_proof_does_not_cover_is_refused_and_nothing_is_charged(fit, words):
    refused(fitted(fit, WHOLE), words)


@pytest.mark.parametrize("fit", WHOLE_ONLY.values(), ids=WHOLE_ONLY)
def test_what_reads_all_rows_is_refused_for_a_part_of_them(fit):
    refused(fitted(fit, PART), "before it is split")


@pytest.mark.parametrize("kind", [Ensemble, ConsistentCounts])
def test_what_counts_all_rows_is_refused_for_a_part_of_them(kind):
    query = kind((Cells(),), "y", ONE)
    executor = table({c.name: [] for c in SCHEMA}, SCHEMA)._executor
    refused(lambda account: executor.draw(query, PART, account), "before it is split")


@pytest.mark.parametrize("cap", [1, 2, 1000, 2**31, 2**32, None])
def test_the_most_rows_follow_from_the_schema_alone(cap):
    schema = Schema("t", (Categorical("a", ("u", "v")),), LABEL, row_cap=cap)
    assert rows_at_most(schema) == min(cap or MOST_ROWS, MOST_ROWS)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "5", "1000"])
def test_a_draw_is_refused_exactly_where_its_sums_could_be_off_by_too_much(epsilon):
    for columns in (1, 4, 8, 12, 16):
        fit = trees(WIDE[:columns], 8, 1000, epsilon=Epsilon.of(epsilon))
        rate = Fraction(epsilon)
        while rate >= 6:
            rate /= 2
        covered = off_by(fit.among[0], SCHEMA, 8, rate * MOST_ROWS) <= MOST_OFF
        terms = Terms(SCHEMA, Adjacency.ADD_REMOVE)
        if covered:
            fit.check(terms, WHOLE)
        else:
            with pytest.raises(PlanError, match="not exact enough"):
                fit.check(terms, WHOLE)
