"""Tables of noisy counts: the plan, what is spent, what is learned and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage import protect, study
from bocage.accounting import MemoryAccount
from bocage.engine.reference import ReferenceEngine
from bocage.epsilon import Epsilon
from bocage.errors import LearnerError, PlanError
from bocage.learners import LEARNERS, Bayes
from bocage.learners.bayes.learner import CHOICE, CLASSES, PAIRS, SINGLES
from bocage.learners.bayes.log_odds import (
    log_ratios,
    pair_ratios,
    prior_of,
    with_consistent_totals,
    with_pairs,
)
from bocage.mechanisms import Adjacency
from bocage.model import AdditiveModel, from_dict, to_dict
from bocage.private import BestModel
from bocage.private.choose import Choose
from bocage.private.executor import LiveExecutor
from bocage.private.noise_shares import LARGEST
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.schema import Categorical, Numeric, Schema
from learners.spy import schemas, some_rows
from private.noises import RecordingNoise, SilentNoise, SilentRecordingNoise
from private.tables import table

SCHEMA = Schema(
    "people",
    (
        Numeric("age", 0, 64, 64),
        Categorical("job", ("cook", "smith", "none")),
        Categorical("town", ("a", "b", "c", "d")),
    ),
    Categorical("ill", ("no", "yes", "late")),
)


def people(rows=4000, seed=0):
    """Whoever is old is ill; cooks of town a and smiths of town b are ill late."""
    rng = np.random.default_rng(seed)
    age, job, town = rng.uniform(0, 64, rows), rng.integers(0, 3, rows), rng.integers(0, 4, rows)
    ill = np.where(rng.random(rows) < 1 / (1 + np.exp(-(age - 32) / 6)), "yes", "no")
    late = (job == town) & (job < 2)
    jobs, towns = np.array(["cook", "smith", "none"]), np.array(["a", "b", "c", "d"])
    return {
        "age": age,
        "job": jobs[job],
        "town": towns[town],
        "ill": np.where(late, "late", ill),
    }


def test_the_plan_adds_up_with_pairs_and_without():
    assert [(step.question, str(step.epsilon)) for step in Bayes().plan(SCHEMA, "1").steps] == [
        (CLASSES, "0.05"),
        (SINGLES, "0.58"),
        (PAIRS, "0.33"),
        (CHOICE, "0.04"),
    ]
    steps = Bayes(pairs=False).plan(SCHEMA, "1").steps
    assert [(step.question, str(step.epsilon)) for step in steps] == [
        (CLASSES, "0.05"),
        (SINGLES, "0.91"),
        (CHOICE, "0.04"),
    ]


@dataclass(frozen=True)
class Watched(LiveExecutor):
    """Keeps in how many counts of each release with Laplace noise a record is, and the other noise."""

    counts: list[int] = field(default_factory=list)
    rates: list = field(default_factory=list)

    def draw(self, query, place, payer):
        answer = super().draw(query, place, payer)
        if isinstance(query, ConsistentCounts):  # a record has one label, whose noise this is
            labels = 1 if query.label is None else self.terms.schema[query.label].cells
            bodies = self.noise.bodies[-1]
            self.rates.extend(body.rate for body in bodies[: len(bodies) // labels])
        elif not isinstance(query, Choose):  # which draws no counts
            self.counts.append(len(query.routers) if isinstance(query, Ensemble) else 1)
        return answer


@settings(max_examples=60, deadline=None)
@given(
    schema=st.booleans().flatmap(lambda numeric: schemas(numeric=numeric)),
    nano=st.integers(2000, 10**6) | st.integers(10**6, 10**13),
    learner=st.sampled_from([Bayes(), Bayes(pairs=False)]),
    silent=st.booleans(),
    adjacency=st.sampled_from(list(Adjacency)),
)
def test_what_the_mechanisms_use_is_what_was_asked_for(schema, nano, learner, silent, adjacency):
    noise = SilentRecordingNoise() if silent else RecordingNoise()
    executor = Watched(Terms(schema, adjacency), ReferenceEngine(some_rows(schema, 1, 40), schema), noise)
    private = PrivateTable(executor, MemoryAccount.of(Epsilon.of(10**6)), WHOLE)
    epsilon = Epsilon(nano)
    plan = learner.plan(schema, epsilon)
    assert Epsilon.total([step.epsilon for step in plan.steps]) == epsilon
    model = learner.fit(private, epsilon)
    assert private.spent() == epsilon
    assert model.certificate.epsilon == str(epsilon)
    counted = zip(executor.counts, (scale for scale, _ in noise.scales), strict=True)
    used = sum(count / scale for count, scale in counted)
    used += sum(contest.rate for contest, _ in noise.contests) + sum(executor.rates)
    assert used * (1 if adjacency is Adjacency.ADD_REMOVE else 2) == epsilon.fraction


def test_a_fit_charges_the_budget_once_and_its_certificate_says_so(tmp_path):
    with protect(people(200), SCHEMA, ledger=tmp_path / "l.db", cap=3, create=True) as owner:
        analyst = owner.analyst("ann", 2)
        model = Bayes().fit(analyst, "0.5")
        assert str(analyst.spent()) == "0.5"
    assert isinstance(model, AdditiveModel)
    assert model.certificate.epsilon == "0.5"
    assert model.certificate.entry is not None


def test_without_noise_single_attributes_say_what_the_people_do():
    model = Bayes(pairs=False).fit(table(people(), SCHEMA, noise=SilentNoise()), "2")
    effects = {term.columns[0]: term.scores for term in model.terms}
    assert effects["age"].shape == (8, 3)
    assert effects["age"][0, 0] > 0 > effects["age"][-1, 0]
    assert (effects["job"][:2, 2] > 0).all()
    assert effects["job"][2, 2] < -2048  # nobody without a job is ill late


def test_pairs_find_what_two_attributes_decide_together():
    new = people(2000, seed=1)

    def accuracy(pairs, noise=None):
        rows = table(people(), SCHEMA, noise=noise or SilentNoise())
        model = Bayes(pairs=pairs).fit(rows, "4")
        assert any(len(term.columns) == 2 for term in model.terms) is pairs
        return (model.predict(new) == new["ill"]).mean()

    alone, together = accuracy(pairs=False), accuracy(pairs=True)
    assert together > 0.85 > alone
    assert accuracy(pairs=True, noise=RecordingNoise()) > 0.8


def test_tables_of_many_cells_are_counted_beside_those_of_few():
    names = tuple(f"v{i:02}" for i in range(LARGEST + 1))
    schema = Schema(
        "t",
        (Categorical("many", names), Categorical("few", ("a", "b"))),
        Categorical("y", ("no", "yes")),
    )
    rng = np.random.default_rng(3)
    code, y = rng.integers(0, len(names), 20000), rng.integers(0, 2, 20000)
    few = np.where(rng.random(20000) < 0.9, y, 1 - y)
    code = np.where(rng.random(20000) < 0.5, 2 * (code // 2) + y, code).clip(max=LARGEST)
    rows = {
        "many": np.array(names)[code],
        "few": np.array(["a", "b"])[few],
        "y": np.array(["no", "yes"])[y],
    }
    for noise in (SilentNoise(), RecordingNoise()):
        model = Bayes(pairs=False).fit(table(rows, schema, noise=noise), "5")
        assert [term.scores.shape for term in model.terms] == [(LARGEST + 1, 2), (2, 2)]
        assert all(np.abs(term.scores).max() > 256 for term in model.terms)
        assert (model.predict(rows) == rows["y"]).mean() > 0.85


def test_little_data_has_no_pairs():
    model = Bayes().fit(table(people(100), SCHEMA, noise=SilentNoise()), "0.1")
    assert {len(term.columns) for term in model.terms} == {1}


def test_the_counts_are_those_of_the_rows_whatever_the_grid():
    """Runs of codes are the cells that the model looks up."""
    for cells in (3, 8, 10, 64, 1000):
        schema = Schema("t", (Numeric("x", 0, cells, cells),), Categorical("y", ("a", "b")))
        rng = np.random.default_rng(cells)
        codes = rng.integers(0, cells, 3000)
        size = min(8, cells)
        seen = codes * size // cells
        rows = {"x": codes + 0.5, "y": np.where(seen % 2 == 0, "a", "b")}
        model = Bayes().fit(table(rows, schema, noise=SilentNoise()), "9")
        assert (model.predict(rows) == rows["y"]).all()


def test_an_empty_table_and_one_row_are_counted():
    for rows in (0, 1):
        model = Bayes().fit(study(people(rows), SCHEMA), "1")
        assert set(model.predict(people(5))) <= {"no", "yes", "late"}


def test_the_model_is_saved_and_read_again():
    model = Bayes().fit(table(people(), SCHEMA, noise=SilentNoise()), "4")
    again = from_dict(to_dict(model))
    new = people(50, seed=2)
    assert (again.predict(new) == model.predict(new)).all()


def test_totals_are_the_weighted_mean_of_what_the_tables_say():
    tables = [np.array([[10.0, 4.0]]), np.array([[3.0, 1.0], [3.0, 1.0]])]
    said = [(tables[0][0], 1.0), (tables[1].sum(axis=0), 2.0)]  # the second is half as precise
    totals, moved = with_consistent_totals(tables, said)
    assert totals == pytest.approx([(2 * 10 + 6) / 3, (2 * 4 + 2) / 3])
    for one in moved:
        assert one.sum(axis=0) == pytest.approx(totals)


def test_pairs_make_single_tables_more_precise():
    single, pair = np.array([[4.0, 4.0], [4.0, 4.0]]), np.full((2, 2, 2), 4.0)
    tables, variances = with_pairs([single, single], [2.0, 2.0], {(0, 1): pair}, {(0, 1): 1.0})
    # Both have a variance of 2: the mean of 4 and 4 + 4, with half the variance.
    assert tables[0] == pytest.approx(np.full((2, 2), 6.0))
    assert variances == [1.0, 1.0]


@given(st.integers(0, 2**32 - 1))
def test_a_table_of_small_deviations_says_nothing(seed):
    rng = np.random.default_rng(seed)
    shares = prior_of(np.array([60.0, 40.0]))
    counts = 100 * np.tile(shares, (5, 1)) + rng.uniform(-0.6, 0.6, (5, 2))  # below a deviation of 1
    assert (log_ratios(counts, shares, 1.0, 4) == 0).all()


def test_independent_attributes_say_nothing_more_together():
    first, second = np.array([[60.0, 20.0], [20.0, 60.0]]), np.array([[70.0, 10.0], [10.0, 70.0]])
    prior = np.array([0.5, 0.5])
    ratios = tuple(np.log(t / t.sum(axis=1, keepdims=True) / prior) for t in (first, second))
    whole = np.einsum("ay,by->aby", first, second) / 80  # given the label, independent
    assert pair_ratios(whole, (first, second), ratios, prior, 25.0) == pytest.approx(0, abs=1e-9)


def test_bad_parameters_are_refused_before_a_charge():
    private = table(people(10), SCHEMA)
    with pytest.raises(LearnerError, match="pairs is true or false"):
        Bayes(pairs=2).fit(private, "1")
    with pytest.raises(LearnerError, match="too small to share"):
        Bayes().fit(private, "0.000000003")
    assert str(private.spent()) == "0"


def test_the_best_model_is_chosen_among_bocages_own_kinds():
    model = Bayes().fit(table(people(50), SCHEMA, noise=SilentNoise()), "4")
    level = table(people(50), SCHEMA, noise=SilentNoise()).reserve("1", "test")
    assert level.fit(BestModel((model, model), "ill", Epsilon.of("0.5"))) == 0
    assert level.fit(BestModel((model, model), "ill", Epsilon.of("0.5"), (1, 0))) == 1
    level = table(people(50), SCHEMA, noise=SilentNoise()).reserve("1", "test")
    with pytest.raises(PlanError, match="no others"):
        level.fit(BestModel((model, object()), "ill", Epsilon.of("0.5")))
    with pytest.raises(PlanError, match="a handicap for each"):
        level.fit(BestModel((model,), "ill", Epsilon.of("0.5"), (1, 2)))
    assert level.remaining() == Epsilon.of("1")


def test_it_is_one_of_the_learners():
    assert LEARNERS["bayes"] is Bayes


def test_few_records_have_tables_of_few_attributes():
    """Whoever is old is ill, and job and town say little: where records are few, age is kept."""
    model = Bayes().fit(table(people(), SCHEMA, noise=SilentNoise()), "0.015")
    assert [term.columns for term in model.terms] == [("age",)]
    model = Bayes().fit(table(people(), SCHEMA, noise=SilentNoise()), "0.1")
    assert {term.columns for term in model.terms} >= {("age",), ("job",), ("town",)}
