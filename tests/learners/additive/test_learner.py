"""The additive learner: its plan, what it spends, what it learns and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from bocage import protect, study
from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.errors import EngineError, LearnerError, NoiseError, PlanError
from bocage.learners import LEARNERS, Additive, Auto, Bayes, DiffPC45
from bocage.learners.additive.boosting_rule import WORKS, BoostingRule
from bocage.learners.additive.learner import CLASSES, FIT
from bocage.learners.discretization import Spreads
from bocage.mechanisms import Adjacency, OpenDPNoise, SystemNoise
from bocage.model import AdditiveModel
from bocage.private import Kind
from bocage.private.executor import LiveExecutor
from bocage.private.objective.fit import AdditiveFit
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of
from private.noises import SilentNoise

SCHEMA = Schema(
    "people",
    (Numeric("age", 0, 64, 64), Categorical("job", ("cook", "smith", "none"))),
    Categorical("ill", ("no", "yes")),
)


def people(rows=4000, seed=0):
    """Whoever is old is ill, cooks less often: log-odds add up."""
    rng = np.random.default_rng(seed)
    age, job = rng.uniform(0, 64, rows), rng.integers(0, 3, rows)
    ill = rng.random(rows) < 1 / (1 + np.exp(-((age - 32) / 6 - 1.5 * (job == 0))))
    jobs = np.array(["cook", "smith", "none"])
    return {"age": age, "job": jobs[job], "ill": np.where(ill, "yes", "no")}


def quiet_table(rows, noise=None):
    executor = LiveExecutor(
        Terms(SCHEMA, Adjacency.ADD_REMOVE),
        MemoryEngine(rows, SCHEMA),
        noise or SilentNoise(),
        Kind.RELEASE,
    )
    return PrivateTable(executor, MemoryAccount.of(Epsilon.of(100)), WHOLE)


def test_the_plan_is_two_questions_that_add_up():
    plan = Additive().plan(SCHEMA, "1")
    assert [(step.question, str(step.epsilon)) for step in plan.steps] == [
        (CLASSES, "0.03"),
        (FIT, "0.97"),
    ]


def test_many_labels_have_more_for_their_counts_and_keep_the_prior_odds():
    many = Schema("t", SCHEMA.attributes, Categorical("ill", ("a", "b", "c", "d")))
    assert str(Additive().plan(many, "1").share(0, CLASSES)) == "0.05"
    counts = np.array([100, 100, 100, 700])
    assert np.ptp(Additive.prior(counts, 1000, 500.0)) == round(1024 * np.log(0.7)) - round(1024 * np.log(0.1))
    blocks = tuple(Additive().blocks(many, ("age", "job"), 100, 1.0))
    fit = AdditiveFit(blocks, "ill", (0,) * 4, 100, Epsilon.of("0.1"))
    assert fit.calibration(Terms(many, Adjacency.ADD_REMOVE)).kept == 1


def test_a_fit_charges_the_budget_once_and_its_certificate_says_so(tmp_path):
    with protect(people(200), SCHEMA, ledger=tmp_path / "l.db", cap=3, create=True) as table:
        analyst = table.analyst("ann", 2)
        model = Additive().fit(analyst, "0.5")
        assert str(analyst.spent()) == "0.5"
    assert isinstance(model, AdditiveModel)
    assert model.certificate.epsilon == "0.5"
    assert model.certificate.entry is not None


@pytest.mark.slow
@pytest.mark.parametrize("cells", ["few", "stacked", "auto"])
def test_without_noise_the_tables_are_those_of_the_people(cells):
    model = Additive(cells=cells).fit(quiet_table(people()), "2")
    alone = [term for term in model.terms if len(term.columns) == 1]
    effects = {term.columns[0]: model.effects(term)[:, 0] for term in alone}
    assert len(effects["age"]) == (8 if cells == "few" else 32)
    assert effects["age"][0] < -1 < 1 < effects["age"][-1]
    assert effects["job"].argmin() == 0
    new = people(2000, seed=1)
    assert (model.predict(new) == new["ill"]).mean() > 0.84


def test_real_noise_at_a_large_epsilon_learns_the_same():
    new = people(2000, seed=1)
    model = Additive().fit(study(people(), SCHEMA), "5")
    assert (model.predict(new) == new["ill"]).mean() > 0.84


@pytest.mark.parametrize("labels", [3, 5])
def test_several_labels_are_learned(labels):
    rng = np.random.default_rng(0)
    code = rng.integers(0, labels, 3000)
    values = tuple(map(str, range(labels)))
    schema = Schema("t", (Categorical("a", values),), Categorical("y", values))
    rows = {"a": code.astype(str), "y": np.where(rng.random(3000) < 0.8, code, 0).astype(str)}
    model = Additive().fit(study(rows, schema), "5")
    assert model.predict({"a": list(values)}).tolist() == list(values)


def test_little_data_takes_few_cells_and_much_takes_many():
    names = ("age", "job")
    assert Additive().blocks(SCHEMA, names, 100, 0.1)[0].levels == (2,)
    assert Additive().blocks(SCHEMA, names, 60, 1.0)[0].levels == (4,)
    assert Additive().blocks(SCHEMA, names, 100, 1.0)[0].levels == (8,)
    assert Additive(cells="few").blocks(SCHEMA, names, 100, 0.1)[0].levels == (8,)
    assert Additive().blocks(SCHEMA, names, 1000, 1.0)[0].levels == (16,)
    assert Additive().blocks(SCHEMA, names, 10**6, 1.0)[0].levels == (32,)
    assert Additive(cells="stacked").blocks(SCHEMA, names, 100, 0.1)[0].levels == (2, 4, 8, 16, 32)


def test_the_prior_odds_are_pulled_together_by_the_noise_of_the_counts():
    counts = np.array([300, 900])
    assert Additive.prior(counts, 1200, 0.0).tolist() == [round(1024 * np.log(3))]
    # 1 + (200 / 1200)**2 * 6 = 7/6: the shares 1/4 and 3/4 become 2/7 and 5/7
    assert Additive.prior(counts, 1200, 200.0).tolist() == [round(1024 * np.log(5 / 2))]
    assert abs(Additive.prior(counts, 1200, 1e6)[0]) <= 1
    assert Additive.prior(np.array([-50, 100]), 400, 0.0)[0] < 1024 * np.log(3)


def test_a_prior_is_scaled_down_as_much_as_the_tables():
    blocks = tuple(Additive().blocks(SCHEMA, ("age", "job"), 100, 1.0))
    empty = {"age": np.array([]), "job": np.array([], str), "ill": np.array([], str)}
    for epsilon in ("0.1", "1"):
        fit = AdditiveFit(blocks, "ill", (1000,), 100, Epsilon.of(epsilon))
        kept = fit.calibration(Terms(SCHEMA, Adjacency.ADD_REMOVE)).kept
        level = quiet_table(empty).reserve(Epsilon.of(epsilon), "fit")
        intercept, _ = level.fit(fit)
        assert intercept.tolist() == [round(1000 * kept)]
        assert 0 < kept < 0.5


def test_an_empty_table_and_one_row_are_fitted():
    for rows in (0, 1):
        model = Additive().fit(study(people(rows), SCHEMA), "1")
        assert set(model.predict(people(5))) <= {"no", "yes"}


def test_bad_parameters_are_refused_before_a_charge():
    table = quiet_table(people(10))
    with pytest.raises(LearnerError, match="cells is auto or few or stacked"):
        Additive(cells="many").fit(table, "1")
    wide = Schema(
        "t",
        tuple(Categorical(f"c{i}", tuple(map(str, range(900)))) for i in range(6)),
        Categorical("y", ("a", "b")),
    )
    with pytest.raises(LearnerError, match="name fewer attributes"):
        Additive().plan(wide, "1")
    assert str(table.spent()) == "0"


@pytest.mark.parametrize("learner", [Additive(), Bayes(), Auto(), DiffPC45(selection="exponential")])
def test_a_provider_without_such_noise_is_refused_before_the_charge(learner):
    read = []

    class Watched(MemoryEngine):
        def rows(self, question):
            read.append(question)
            return super().rows(question)

    executor = LiveExecutor(
        Terms(SCHEMA, Adjacency.ADD_REMOVE),
        Watched(people(10), SCHEMA),
        OpenDPNoise(),
        Kind.RELEASE,
    )
    table = PrivateTable(executor, MemoryAccount.of(Epsilon.of(100)), WHOLE)
    with pytest.raises(NoiseError):
        learner.fit(table, "1")
    assert read == []
    assert str(table.spent()) == "0"


def test_a_failing_scan_is_an_opaque_error_after_the_charge():
    class Broken(MemoryEngine):
        def rows(self, question):
            raise ValueError("the value 42 of row 7")

    executor = LiveExecutor(
        Terms(SCHEMA, Adjacency.ADD_REMOVE), Broken(people(10), SCHEMA), SystemNoise(), Kind.RELEASE
    )
    table = PrivateTable(executor, MemoryAccount.of(Epsilon.of(100)), WHOLE)
    with pytest.raises(EngineError, match="The charge stands") as caught:
        Additive().fit(table, "1")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert str(table.spent()) == "1"


def test_replaced_records_get_half_the_rate():
    blocks = tuple(Additive().blocks(SCHEMA, ("age", "job"), 100, 1.0))
    fit = AdditiveFit(blocks, "ill", (0,), 100, Epsilon.of("1"))
    one, two = (fit.calibration(Terms(SCHEMA, adjacency)) for adjacency in Adjacency)
    assert sum(body.rate for body in one.bodies) == 2 * sum(body.rate for body in two.bodies)


def test_it_is_one_of_the_learners():
    assert LEARNERS["additive"] is Additive


def test_a_model_too_large_to_be_fitted_is_refused_before_anything_is_charged():
    many = tuple(Numeric(f"x{i}", 0, 64, 64) for i in range(50))
    schema = Schema("wide", many, Categorical("y", ("a", "b", "c")))
    with pytest.raises(PlanError, match="too large to be fitted at once"):
        Additive(cells="stacked").plan(schema, "1")
    assert Additive(cells="few").plan(schema, "1").budget == Epsilon.of("1")


def riddle(rows, seed=0):
    """Two columns that say nothing alone and everything together, and two that say nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (4, rows))
    ages = (codes[1] + rng.random(rows)) * 64 / 3
    label = np.where(rng.random(rows) < 0.05, rng.integers(0, 2, rows), (codes[0] + (ages > 32)) % 2)
    names = np.array(["u", "v", "w"])
    columns = {"a": names[codes[0]], "b": ages, "c": names[codes[2]], "d": names[codes[3]]}
    return {**columns, "y": np.array(["no", "yes"])[label]}


RIDDLE = Schema(
    "riddle",
    (
        Categorical("a", ("u", "v", "w")),
        Numeric("b", 0, 64, 64),
        Categorical("c", ("u", "v", "w")),
        Categorical("d", ("u", "v", "w")),
    ),
    Categorical("y", ("no", "yes")),
)


def test_a_pair_that_says_more_together_is_found_and_paid_for(tmp_path):
    new = riddle(2000, seed=1)
    with protect(riddle(6000), RIDDLE, ledger=tmp_path / "l.db", cap=9, create=True) as table:
        analyst = table.analyst("ann", 8)
        model = Additive().fit(analyst, "8")
        assert str(analyst.spent()) == "8"
    assert ("a", "b") in [term.columns for term in model.terms]
    assert (model.predict(new) == new["y"]).mean() > 0.93
    alone = Additive(attributes=("a", "c")).fit(study(riddle(6000), RIDDLE), "8")
    assert (alone.predict(new) == new["y"]).mean() < 0.75


def test_every_share_of_the_fit_is_used_if_tables_are_drawn():
    executor = LiveExecutor(
        Terms(RIDDLE, Adjacency.ADD_REMOVE),
        MemoryEngine(riddle(6000), RIDDLE),
        SilentNoise(),
        Kind.RELEASE,
    )
    level = PrivateTable(executor, MemoryAccount.of(Epsilon.of(8)), WHOLE).reserve(8, "tables")
    learner = Additive()
    certificate = certificate_of(RIDDLE)
    counts = np.array([3000, 3000])
    learner.tables(level, counts, Epsilon.of(8), certificate, deviation=1.0)
    assert str(level.remaining()) == "0"


def rule_of(rows, schema=RIDDLE, epsilon=8.0):
    names = tuple(column.name for column in schema.attributes)
    blocks = Additive().blocks(schema, names, rows, epsilon)
    return BoostingRule.of(schema, blocks, rows, epsilon, Spreads())


def test_tables_are_drawn_only_where_there_are_records_for_them():
    for rows, rounds in ((200, 0), (6000, 6), (10**5, 12)):
        rule = rule_of(rows)
        assert max(len(rule.shares) - 1, 0) == rounds
        assert bool(rule.blocks) == bool(rule.columns) == bool(rounds)
        *drawn, left = rule.shares or (1,)
        assert drawn == [min(round(1000 * 1.5**i), rows // 2) for i in range(rounds)]
        assert sum(drawn) <= 0.6 * 8 * rows
        assert left == (8 * rows - sum(drawn) if rounds else 1)
    assert min(rule_of(1, epsilon=10.0**5).shares) == 1  # however few rows there are, each is paid
    four = Schema("t", RIDDLE.attributes, Categorical("y", ("a", "b", "c", "d")))
    assert rule_of(10**5, four) == BoostingRule()


def test_three_columns_are_chosen_freely_unless_there_are_too_many_of_them():
    def columns(count, rows):
        names = tuple(Categorical(f"c{i}", ("u", "v")) for i in range(count))
        return rule_of(rows, Schema("t", names, RIDDLE.label), 1.0).columns

    assert columns(1, 10**5) == 1
    assert columns(2, 10**5) == 2
    assert columns(40, 10**5) == 3
    assert columns(50, 10**5) == 2  # 20,825 choices of three or fewer
    assert columns(20, 4 * 10**5) == 3
    assert columns(20, 6 * 10**5) == 2  # too many rows to count twelve times
    assert columns(200, 10**5) == 0  # 20,100 choices of two


def test_what_is_drawn_is_bounded_in_cells_work_and_what_floats_bear():
    values = tuple(map(str, range(60)))
    columns = (Numeric("n", 0, 64, 64), Categorical("c", values), Categorical("d", values))
    wide = Categorical("e", tuple(map(str, range(300))))
    schema = Schema("t", (*columns, wide), Categorical("y", ("a", "b", "c")))
    rule = rule_of(10**6, schema, 1.0)
    assert [(*block.columns, block.size) for block in rule.blocks] == [
        ("n", 4),
        ("c", 60),
        ("d", 60),
    ]
    assert rule.columns == 3
    assert rule.shares[:2] == (2000, 3000)  # of three labels
    choices = 5  # each, and n with both of the others
    rows = WORKS[3] // (12 * choices)
    assert len(rule_of(rows, schema, 0.1).shares) == 12 + 1
    assert len(rule_of(rows + 1, schema, 0.1).shares) == 1 + 1  # as often as the work for two allows
    assert rule_of(WORKS[2] // choices + 1, schema, 0.1) == BoostingRule()
    assert rule_of(10**7, schema, 100.0) == BoostingRule()  # too heavy for exact draws


def test_tables_of_the_same_attributes_are_added_up_and_empty_ones_left_out():
    rule = rule_of(6000)
    one, other = (np.zeros((9, 2), np.int64) for _ in range(2))
    one[0, 1], other[0, 1], other[3, 0] = 256, 512, 1024
    names = [block.columns[0] for block in rule.blocks]
    places = (names.index("a"), names.index("c"))
    terms = rule.terms([(places, one), ((0,), np.zeros((3, 2), np.int64)), (places, other)])
    assert [term.columns for term in terms] == [("a", "c")]
    assert terms[0].scores.tolist() == (one + other).tolist()
