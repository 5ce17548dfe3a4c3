"""The classifiers: what they take, what they refuse, what they charge."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bocage import estimators, protect
from bocage.errors import (
    BocageError,
    BudgetExceeded,
    EpsilonError,
    EstimatorError,
    LearnerError,
    RefusedVariant,
)
from bocage.estimators import (
    AdditiveClassifier,
    AutoClassifier,
    BayesClassifier,
    DiffPC45Classifier,
    DiffPID3Classifier,
    DPDFClassifier,
    RandomTreesClassifier,
    ReadableTreeClassifier,
    ScorecardClassifier,
    TuningCost,
)
from bocage.learners import LEARNERS
from bocage.model import AdditiveModel, Forest, Tree
from bocage.schema import Categorical, Numeric, Schema

CLASSIFIERS = [getattr(estimators, name) for name in estimators.__all__ if name.endswith("Classifier")]
CLASSIFIERS.remove(estimators.PrivateClassifier)
CLASSIFIERS.remove(estimators.SurveyTreeClassifier)  # of the local model: test_local.py
UNSET = {
    ReadableTreeClassifier, ScorecardClassifier, AdditiveClassifier, BayesClassifier, AutoClassifier,
}  # fmt: skip
QUIET = 1000  # with 400 rows a wrong split or count has probability below 1e-30

# Ill are the old smokers; the color has nothing to do with it.
SCHEMA = Schema(
    "patients",
    (
        Categorical("smokes", ("no", "yes")),
        Categorical("age", ("young", "old")),
        Categorical("color", ("red", "green", "blue")),
    ),
    Categorical("ill", ("yes", "no")),
)
ROWS = pd.DataFrame(
    {
        "smokes": ["no", "yes"] * 200,
        "age": (["young"] * 2 + ["old"] * 2) * 100,
        "color": (["red"] * 5 + ["green"] * 3 + ["blue"] * 2) * 40,
    }
)
ILL = np.where((ROWS["smokes"] == "yes") & (ROWS["age"] == "old"), "yes", "no")
NUMBERS = Schema("points", (Numeric("x", 0, 100, step=1),), Categorical("side", ("0", "1")))


def make(cls: type, **parameters: object) -> estimators.PrivateClassifier:
    if cls is DPDFClassifier:
        parameters = {"trees": 1, "support": 0, **parameters}
    if cls is RandomTreesClassifier:
        return cls(SCHEMA, QUIET, **{"trees": 20, "height": 3, **parameters})
    if cls in UNSET:
        return cls(SCHEMA, QUIET, **parameters)
    return cls(schema=SCHEMA, epsilon=QUIET, **{"depth": 3, **parameters})


@pytest.fixture
def table(tmp_path):
    rows = ROWS.assign(ill=ILL)
    with protect(rows, SCHEMA, ledger=tmp_path / "book", cap=3000, create=True) as owner:
        yield owner.analyst("ann", budget=2500)


def test_every_learner_has_a_classifier_with_its_parameters():
    assert {cls.learner for cls in CLASSIFIERS} == set(LEARNERS.values())
    for cls in CLASSIFIERS:
        given = inspect.signature(cls).parameters
        own = {field.name: field.default for field in fields(cls.learner)}
        assert {n: p.default for n, p in given.items()} == {"schema": None, "epsilon": 1.0, **own}
        assert {p.kind.name for n, p in given.items() if n in own} == {"KEYWORD_ONLY"}
        assert all(re.search(rf"\b{name}\b", cls.__doc__) for name in given)
        with pytest.raises(TypeError, match=f"{cls.__name__} .*unexpected keyword argument 'deep'"):
            cls(deep=1)
        assert pickle.loads(pickle.dumps(cls)) is cls  # noqa: S301 - our own bytes
        assert cls(SCHEMA, 2, attributes=["a"]).get_params() == {
            "schema": SCHEMA, "epsilon": 2, **own, "attributes": ["a"],
        }  # fmt: skip


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_the_rule_behind_the_rows_is_found(cls):
    fitted = make(cls).fit(ROWS, ILL)
    assert fitted.score(ROWS, ILL) == 1.0
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_.tolist() == ["smokes", "age", "color"]
    assert fitted.n_features_in_ == 3
    assert fitted.certificate_.epsilon == str(QUIET)
    assert fitted.certificate_.entry is None
    either = cls is AutoClassifier and not hasattr(fitted.model_, "is_leaf")  # points say it too
    if either or cls in {ScorecardClassifier, AdditiveClassifier, BayesClassifier}:
        assert isinstance(fitted.model_, AdditiveModel)
        return
    kind = Forest if cls in {DPDFClassifier, RandomTreesClassifier} else Tree
    assert isinstance(fitted.model_, kind)
    assert getattr(fitted, "forest_" if kind is Forest else "tree_") is fitted.model_


FRAMES = {
    "pandas": lambda: ROWS,
    "categories": lambda: ROWS.astype("category"),
    "polars": lambda: pl.from_pandas(ROWS),
    "arrow": lambda: pa.Table.from_pandas(ROWS, preserve_index=False),
    "array": ROWS.to_numpy,
    "text array": lambda: ROWS.to_numpy().astype(str),
    "more columns": lambda: ROWS.assign(unknown=1.5),
    "other order": lambda: ROWS[["color", "age", "smokes"]],
}


@pytest.mark.parametrize("frame", FRAMES)
def test_tables_of_every_kind_give_the_same_tree(frame):
    rows = FRAMES[frame]()
    fitted = make(DiffPID3Classifier).fit(rows, ILL)
    assert (fitted.predict(rows) == ILL).all()
    assert {"smokes", "age"} <= set(fitted.tree_.columns)


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (np.array([0, 1]), ("0", "1")),
        (np.array([0.0, 1.0]), ("0", "1")),
        (np.array([False, True]), ("false", "true")),
        (np.array(["a", "b"]), ("a", "b")),
        (np.array(["a", "b"], dtype=object), ("a", "b")),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_labels_come_back_in_their_own_type_and_sorted(labels, values, turned):
    schema = Schema("points", NUMBERS.attributes, Categorical("side", values[::-1] if turned else values))
    x = np.arange(100)[:, None]
    y = labels[(x[:, 0] >= 40).astype(int)]
    fitted = DiffPC45Classifier(schema, QUIET, depth=1).fit(x, y)
    assert fitted.classes_.tolist() == labels.tolist()
    assert fitted.predict(x).dtype == y.dtype
    assert (fitted.predict(x) == y).all()
    assert (fitted.classes_[fitted.predict_proba(x).argmax(axis=1)] == y).all()


def test_whole_numbers_in_an_array_of_floats_are_categories():
    schema = Schema("t", (Categorical("a", ("0", "1", "2")),), Categorical("b", ("0", "1")))
    x = np.array([0.0, 1.0, 2.0, 2.0, np.nan, 0.5, np.inf] * 50)[:, None]
    y = (x[:, 0] == 2).astype(int)
    fitted = DiffPID3Classifier(schema, QUIET, depth=1).fit(x, y)  # what is outside is dropped
    assert fitted.predict(x[:4]).tolist() == [0, 0, 1, 1]
    assert fitted.tree_.total[0] == 200


def test_a_private_table_is_charged_once_and_named_in_the_certificate(table):
    fitted = DiffPID3Classifier(epsilon=QUIET).fit(table)
    assert str(table.spent()) == str(QUIET)
    assert fitted.certificate_.entry is not None
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert (fitted.predict(ROWS) == ILL).all()
    with pytest.raises(EstimatorError, match="fit\\(table\\) takes no y"):
        fitted.fit(table, ILL)
    with pytest.raises(EstimatorError, match="another schema"):
        DiffPID3Classifier(NUMBERS, QUIET).fit(table)
    assert str(table.spent()) == str(QUIET)


def test_fitting_a_private_table_again_says_what_it_costs_until_nothing_is_left(table):
    estimator = DiffPID3Classifier(epsilon=QUIET).fit(table)
    with pytest.warns(TuningCost, match="costs epsilon=1000 again"):
        estimator.fit(table)
    with pytest.raises(BudgetExceeded):
        clone(estimator).fit(table)
    assert str(table.spent()) == "2000"


def test_an_unsound_variant_is_refused_on_a_ledger_and_certifies_nothing(table):
    estimator = DPDFClassifier(epsilon=1, trees=1, sensitivity="local")
    with pytest.raises(RefusedVariant):
        estimator.fit(table)
    assert str(table.spent()) == "0"
    studied = DPDFClassifier(SCHEMA, 1, trees=1, sensitivity="local").fit(ROWS, ILL)
    assert studied.certificate_.epsilon is None


def test_without_a_schema_nothing_is_inferred():
    with pytest.raises(EstimatorError, match="bocage schema draft") as refusal:
        DiffPC45Classifier().fit(ROWS, ILL)
    assert isinstance(refusal.value, ValueError)  # as scikit-learn's users expect


@pytest.mark.parametrize(
    ("estimator", "x", "y", "error", "words"),
    [
        (DiffPC45Classifier(SCHEMA), ROWS[["age"]], ILL, EstimatorError, "no column 'smokes'"),
        (DiffPC45Classifier(SCHEMA), np.ones((400, 2)), ILL, EstimatorError, "declares 3"),
        (DiffPC45Classifier(SCHEMA), ROWS, np.ones(400, int), EstimatorError, "'yes', 'no'"),
        (DiffPC45Classifier(3), ROWS, ILL, EstimatorError, "not int"),
        (DiffPC45Classifier(SCHEMA, -1), ROWS, ILL, EpsilonError, "greater than 0"),
        (DiffPC45Classifier(SCHEMA, depth=0), ROWS, ILL, LearnerError, "depth from 1"),
        (DiffPC45Classifier(SCHEMA), ROWS, ILL[:5], ValueError, "inconsistent numbers"),
        (DPDFClassifier(SCHEMA, trees=9), ROWS, ILL, LearnerError, "1 to 3 trees"),
        (
            DiffPC45Classifier(Schema("t", SCHEMA.attributes)),
            ROWS,
            ILL,
            EstimatorError,
            "no label",
        ),
        (DiffPID3Classifier(NUMBERS), np.ones((2, 1)), [0, 1], LearnerError, "categorical"),
        (DiffPC45Classifier(NUMBERS), np.array([["a"], ["b"]]), [0, 1], BocageError, "numeric"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(estimator, x, y, error, words):
    with pytest.raises(error, match=words):
        estimator.fit(x, y)


def test_a_schema_may_be_a_file(tmp_path):
    file = tmp_path / "points.toml"
    file.write_text(
        'name = "points"\n[[attributes]]\nname = "x"\ntype = "numeric"\nlower = 0\nupper = 100\n'
        'step = 1\n[target]\nname = "side"\nvalues = ["0", "1"]\n'
    )
    x = np.arange(100)[:, None]
    for path in (file, str(file)):
        fitted = DiffPC45Classifier(path, QUIET).fit(x, (x[:, 0] > 50).astype(int))
        assert fitted.predict([[51], [50]]).tolist() == [1, 0]


def test_only_the_named_attributes_are_used():
    for names in (["age", "color"], ("age", "color"), np.array(["age", "color"])):
        fitted = make(DiffPID3Classifier, attributes=names).fit(ROWS, ILL)
        assert "smokes" not in fitted.tree_.columns


def test_copies_and_pickles_keep_parameters_and_predictions():
    fitted = make(DiffPC45Classifier).fit(ROWS, ILL)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert (again.predict(ROWS) == ILL).all()
    assert again.certificate_ == fitted.certificate_


def test_one_fit_of_one_copy_costs_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(DiffPC45Classifier).fit(ROWS, ILL)
        clone(make(DiffPC45Classifier)).fit(ROWS, ILL)
        make_pipeline(FunctionTransformer(), make(DiffPC45Classifier)).fit(ROWS, ILL)


def test_a_pipeline_of_public_ranges_and_a_forest_works():
    x, edges = np.arange(400)[:, None] / 4.0, [25, 50, 75]
    y = (x[:, 0] >= 50).astype(int)
    ranges = FunctionTransformer(np.digitize, kw_args={"bins": edges})
    schema = Schema("t", (Categorical("range", ("0", "1", "2", "3")),), NUMBERS.label)
    forest = DPDFClassifier(schema, QUIET, trees=1, support=0)
    assert make_pipeline(ranges, forest).fit(x, y).score(x, y) == 1.0


def test_a_grid_search_works_and_says_what_tuning_costs():
    search = GridSearchCV(make(DiffPC45Classifier), {"depth": [1, 3]}, cv=2)
    with pytest.warns(TuningCost, match="Tune on public or made-up records") as warned:
        search.fit(ROWS, ILL)
    assert len(warned) == 1  # not once for each of five fits
    assert search.best_params_ == {"depth": 3}
    assert search.score(ROWS, ILL) == 1.0


def test_copies_that_are_sent_to_other_processes_warn_there():
    estimator = make(DiffPC45Classifier)
    copies = [clone(estimator) for _ in range(2)]
    sent = pickle.loads(pickle.dumps(copies[1]))  # noqa: S301 - our own bytes
    with pytest.warns(TuningCost):
        sent.fit(ROWS, ILL)


def test_cross_validation_says_what_it_costs_even_inside_a_pipeline():
    steps = make_pipeline(FunctionTransformer(), make(DiffPC45Classifier))
    with pytest.warns(TuningCost, match="epsilon=1000 again"):
        scores = cross_val_score(steps, ROWS, ILL, cv=4)
    assert scores.min() == 1.0


def test_importing_bocage_loads_no_scikit_learn():
    program = (
        "import sys, bocage, bocage.cli\nfrom bocage import protect, Schema\n"
        "import bocage.learners\nsys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
