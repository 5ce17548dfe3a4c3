"""The classifier of distorted records, and scikit-learn's own checks of it.

The checks fit arrays of any shape and expect that no survey is needed. So the checked class declares one for
the array of a check, with every answer in the clear, and does what a person's side would: rounds numbers to
the grid, and answers 0 where a check has left a value out.
This happens in the tests and not in the package, which infers nothing.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from bocage.errors import EstimatorError, LearnerError, SurveyError
from bocage.estimators import SurveyTreeClassifier, rows
from bocage.local import Clear, Gaussian, Records, Survey, SurveyTree, generator
from bocage.schema import Categorical, Numeric, Schema

PEOPLE = generator.schema()
SURVEY = Survey(
    PEOPLE,
    {**{a.name: Gaussian.of_privacy(a, 50) for a in PEOPLE.attributes}, "group": Clear()},
)
ROWS = generator.generate(5000, 1, seed=1)
TEST = generator.generate(1000, 1, seed=2)


@pytest.fixture(scope="module")
def records():
    return Records.distort(SURVEY, ROWS)


@pytest.fixture(scope="module")
def frame(records):
    return records.to_table().to_pandas()


CELLS = 256  # sixteen a unit, and an interval for each: 30 to 300 rows are to be told apart


class Checked(SurveyTreeClassifier):
    """Declares ranges of numbers, and the labels of the check."""

    def _declared(self, X: Any, y: Any) -> Survey:  # noqa: N803 - scikit-learn's name
        names = rows.names_of(X) or [f"x{at}" for at in range(X.shape[1])]
        labels = np.unique(rows.labels(y)).tolist()
        if len(labels) == 1:  # one label is nothing to learn; the table of the check has no other
            labels.append(labels[0] + 1)
        columns = tuple(Numeric(name, -8, 8, cells=CELLS) for name in names)
        schema = Schema("check", columns, Categorical("label", tuple(map(str, labels))))
        return Survey(schema, {column.name: Clear() for column in schema})

    def _columns(self, X: Any, survey: Survey) -> rows.Columns:  # noqa: N803 - scikit-learn's name
        numbers = X if rows.names_of(X) else np.asarray(X, dtype=float)
        found = rows.columns(numbers, survey.schema)
        return {
            name: np.clip(np.floor(np.nan_to_num(np.asarray(x, float)) * 16), -128, 127) / 16 + 1 / 32
            for name, x in found.items()
        }


@pytest.mark.filterwarnings("ignore::bocage.local.FewRecords")  # the checks have 10 to 300 rows
@parametrize_with_checks(
    [
        Checked(algorithm=name, intervals=CELLS, small=50)
        for name in ("byclass", "local", "global", "randomized", "original")
    ]
)
def test_the_estimator_passes_the_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_parameters_are_those_of_the_learner():
    given = inspect.signature(SurveyTreeClassifier).parameters
    own = {field.name: field.default for field in fields(SurveyTree)}
    assert {n: p.default for n, p in given.items()} == {"survey": None, **own}


def test_records_frames_and_arrays_give_the_same_tree(records, frame):
    names = [a.name for a in PEOPLE.attributes]
    expected = SurveyTree().fit(records).to_dict()
    fitted = [
        SurveyTreeClassifier().fit(records),
        SurveyTreeClassifier(SURVEY).fit(frame, frame["group"].to_numpy()),
        SurveyTreeClassifier(SURVEY).fit(frame[names], frame["group"].to_numpy()),
        SurveyTreeClassifier(SURVEY).fit(frame[names].to_numpy(), frame["group"].to_numpy()),
    ]
    assert all(estimator.tree_.to_dict() == expected for estimator in fitted)
    assert fitted[0].model_ is fitted[0].tree_
    assert fitted[0].certificate_.epsilon is None
    assert fitted[0].feature_names_in_.tolist() == names
    assert fitted[0].classes_.tolist() == ["A", "B"]


def test_predictions_are_for_records_that_are_not_distorted(records):
    """Function 1 at 50 %: 0.947 in the mean of 12 draws, with a deviation of 0.013."""
    fitted = SurveyTreeClassifier().fit(records)
    test = pd.DataFrame({name: TEST[name] for name in generator.ATTRIBUTES})
    assert fitted.score(test, TEST["group"]) > 0.8  # eleven deviations away
    shares = fitted.predict_proba(test)
    assert (fitted.classes_[shares.argmax(axis=1)] == fitted.predict(test)).mean() > 0.99


def test_tuning_is_free(frame):
    names = [a.name for a in PEOPLE.attributes]
    search = GridSearchCV(SurveyTreeClassifier(SURVEY), {"intervals": [10, 20]}, cv=2)
    search.fit(frame[names], frame["group"].to_numpy())
    assert search.best_params_["intervals"] in {10, 20}


def test_what_does_not_fit_is_refused(records, frame, tmp_path):
    labels = frame["group"].to_numpy()
    SURVEY.save(tmp_path / "survey.json")
    assert SurveyTreeClassifier(tmp_path / "survey.json").fit(records).tree_
    with pytest.raises(EstimatorError, match="needs the survey"):
        SurveyTreeClassifier().fit(frame, labels)
    with pytest.raises(EstimatorError, match="takes no y"):
        SurveyTreeClassifier().fit(records, labels)
    with pytest.raises(EstimatorError, match="not int"):
        SurveyTreeClassifier(7).fit(frame, labels)
    other = Survey(PEOPLE, {column.name: Clear() for column in PEOPLE})
    with pytest.raises(EstimatorError, match="another survey"):
        SurveyTreeClassifier(other).fit(records)
    with pytest.raises(SurveyError, match="another survey"):
        SurveyTreeClassifier(other).fit(frame, labels)
    with pytest.raises(LearnerError, match="no algorithm"):
        SurveyTreeClassifier(SURVEY, algorithm="forest").fit(records)
    bare = Survey(Schema("bare", PEOPLE.attributes), {a.name: Clear() for a in PEOPLE.attributes})
    with pytest.raises(EstimatorError, match="no label"):
        SurveyTreeClassifier(bare).fit(frame.drop(columns="bocage_survey"), labels)
