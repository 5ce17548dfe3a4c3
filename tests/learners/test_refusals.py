"""Bad input is refused with its own words before anything is charged or read."""

from __future__ import annotations

import numpy as np
import pytest

import bocage
from bocage.epsilon import Epsilon
from bocage.errors import (
    EpsilonError,
    LearnerError,
    ModelError,
    PlanError,
    RefusedVariant,
    SourceError,
)
from bocage.learners import DPDF, DiffPC45, DiffPID3, PrivateID3, SulqID3
from bocage.schema import Categorical, Numeric, Schema
from learners.spy import GREEDY
from private.tables import TENNIS, WEATHER, table

C = Categorical("c", ("n", "y"))
A, B = Categorical("a", ("x", "y")), Categorical("b", ("x", "y"))
X = Numeric("x", lower=0, upper=9, step=1)


def schema(*attributes, label=C, **options):
    return Schema("t", attributes, label=label, **options)


PLAIN = schema(A, B)


@pytest.mark.parametrize(
    ("learner", "public", "words"),
    [
        *[(kind(depth=0), PLAIN, "depth from 1 to 40, not 0") for kind in GREEDY.values()],
        *[(kind(depth=True), PLAIN, "not True") for kind in GREEDY.values()],
        *[(kind(depth=2.5), PLAIN, "not 2.5") for kind in GREEDY.values()],
        *[(kind(), schema(A, label=None), "no label") for kind in GREEDY.values()],
        *[(kind(), schema(A, label=Categorical("c", ("y",))), "one value only") for kind in GREEDY.values()],
        *[(kind(), schema(), "no attribute") for kind in GREEDY.values()],
        *[(kind(), schema(Categorical("k", ("only",))), "two values or more") for kind in GREEDY.values()],
        *[(kind(attributes=("z",)), PLAIN, "no attribute 'z'") for kind in GREEDY.values()],
        *[(kind(attributes=("c",)), PLAIN, "no attribute 'c'") for kind in GREEDY.values()],
        *[(kind(attributes="a"), PLAIN, "list of attributes") for kind in GREEDY.values()],
        *[(kind(attributes=()), PLAIN, "no attribute") for kind in GREEDY.values()],
        *[(kind(), schema(A, X), "'x' is numeric") for kind in GREEDY.values() if kind is not DiffPC45],
        (DPDF(trees=3), PLAIN, "1 to 2 trees on 't', not 3"),
        (DPDF(trees=0), PLAIN, "1 to 2 trees on 't', not 0"),
        (DPDF(trees=True), PLAIN, "not True"),
        (DPDF(trees=1.5), PLAIN, "not 1.5"),
        (DPDF(1, support=-1), PLAIN, "support is 0 or more, not -1"),
        (DPDF(1, support=float("nan")), PLAIN, "not nan"),
        (DPDF(1, sensitivity="smooth"), PLAIN, "global or local, not 'smooth'"),
        (DPDF(1, selection="best"), PLAIN, "selection is exponential or permute_and_flip"),
        (DiffPID3(selection="best"), PLAIN, "not 'best'"),
        (DiffPID3(criterion="gain_ratio"), PLAIN, "no criterion 'gain_ratio'"),
        (DiffPID3(criterion="information_gain"), PLAIN, "needs a row cap"),
        (DiffPC45(criterion="information_gain"), PLAIN, "needs a row cap"),
        (DiffPC45(selection=None), PLAIN, "not None"),
        (DiffPC45(points="some"), PLAIN, "joint or separate, not 'some'"),
        (DiffPC45(confidence=0), PLAIN, "confidence in (0, 0.5], not 0"),
        (DiffPC45(confidence="a"), PLAIN, "not 'a'"),
        (DiffPC45(confidence=float("nan")), PLAIN, "not nan"),
        (SulqID3(sizes="none"), PLAIN, "asked or summed, not 'none'"),
        (PrivateID3(most_nodes="many"), PLAIN, "most_nodes"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_the_plan(learner, public, words):
    with pytest.raises((LearnerError, PlanError)) as caught:
        learner.plan(public, 1)
    assert words in str(caught.value)
    rows = {column.name: [] for column in public}
    private = table(rows, public)
    with pytest.raises((LearnerError, PlanError)):
        learner.fit(private, 1)
    assert private.spent() == Epsilon(0)


@pytest.mark.parametrize("name", GREEDY)
def test_a_budget_that_cannot_be_shared_says_which_one_can(name):
    learner = GREEDY[name](depth=2)
    private = table(WEATHER, TENNIS)
    with pytest.raises(LearnerError, match=r"take at least 0\.0000000") as caught:
        learner.fit(private, "0.000000001")
    assert private.spent() == Epsilon(0)
    least = str(caught.value).split("take at least ")[1].split(",")[0]
    learner.fit(private, least)  # it does
    assert private.spent() == Epsilon.of(least)
    with pytest.raises(LearnerError, match="take at least"):
        learner.fit(private, Epsilon(Epsilon.of(least).nano - 1))


@pytest.mark.parametrize("name", GREEDY)
@pytest.mark.parametrize("epsilon", [0, -1, "much", float("nan"), float("inf"), 1e7, None])
def test_what_is_no_budget_is_refused(name, epsilon):
    with pytest.raises(EpsilonError):
        GREEDY[name]().fit(table(WEATHER, TENNIS), epsilon)


@pytest.mark.parametrize("name", GREEDY)
def test_too_many_counters_or_labels_for_one_node_are_refused(name):
    values = tuple(map(str, range(2**16)))
    many = [Categorical(letter, values) for letter in "def"]
    labels = Categorical("c", values[:1000])
    kind = {"trees": 1} if name == "dpdf" else {}
    with pytest.raises(LearnerError, match="counters"):
        GREEDY[name](**kind).plan(schema(*many, label=labels), 1)
    too_many = Categorical("c", tuple(map(str, range(1025))))
    with pytest.raises(ModelError, match="1024 labels"):
        GREEDY[name](**kind).plan(schema(A, label=too_many), 1)


@pytest.mark.parametrize("name", GREEDY)
def test_a_dry_run_is_free_and_says_what_it_is(name):
    private = table(WEATHER, TENNIS)
    model = GREEDY[name]().fit(private.dry_run(rows=200), 5)
    assert private.spent() == Epsilon(0)
    assert "made up from the schema" in model.certificate.statement()
    assert model.certificate.entry is None
    assert len(model.predict(WEATHER)) == 14


@pytest.mark.parametrize("name", GREEDY)
def test_a_preview_cannot_be_learned_from(name):
    private = table(WEATHER, TENNIS)
    with pytest.raises(PlanError, match="a learner publishes its plan"):
        GREEDY[name]().fit(private.preview(), 5)
    assert private.spent() == Epsilon(0)


def test_the_paper_s_local_sensitivity_is_refused_on_a_ledger():
    private = table(WEATHER, TENNIS)
    with pytest.raises(RefusedVariant, match='sensitivity="global"'):
        DPDF(1, sensitivity="local").fit(private, 1)
    assert private.spent() == Epsilon(0)


def test_the_paper_s_local_sensitivity_issues_no_epsilon():
    for trees in (1, 3):
        forest = DPDF(trees, sensitivity="local", support=1).fit(bocage.study(WEATHER, TENNIS), 9)
        assert forest.certificate.epsilon is None
        assert all(tree.certificate.epsilon is None for tree in forest.trees)
        assert "NO PRIVACY IS GUARANTEED" in forest.certificate.statement()
        assert forest.certificate.mechanisms == (
            "discrete Laplace",
            "exponential with local sensitivity",
        )


def test_sound_learners_issue_the_epsilon_that_they_were_given():
    for kind in GREEDY.values():
        assert kind().fit(bocage.study(WEATHER, TENNIS), "0.7").certificate.epsilon == "0.7"


def test_a_source_without_a_column_of_the_schema_is_refused():
    rows = {name: values for name, values in WEATHER.items() if name != "wind"}
    with pytest.raises(SourceError, match="'wind'"):
        bocage.study(rows, TENNIS)


def test_nan_and_strings_where_numbers_belong_are_what_the_schema_says_or_refused():
    schema_ = schema(Numeric("x", lower=0, upper=9, step=1))
    rows = {"x": [1.0, float("nan"), 8.0, None], "c": ["n", "n", "y", "y"]}
    model = DiffPC45(1).fit(bocage.study(rows, schema_), 1000)
    assert model.total[0] == 2  # the two without a number are dropped
    with pytest.raises(SourceError):
        bocage.study({"x": ["one", "two"], "c": ["n", "y"]}, schema_)


def test_numpy_whole_numbers_are_taken_as_such():
    tree = DiffPID3(depth=int(np.int64(2))).fit(table(WEATHER, TENNIS), 10)
    assert tree.depth_ <= 2
