"""scikit-learn's own checks of every estimator.

The checks fit arrays of any shape, with labels of any kind, and expect that no schema is needed. So each
checked class declares one for the array of a check: fixed ranges, the names and the labels of the check.
Learners that take no numbers are given the fixed range that a number lies in. This happens in the
methods below, in the tests and not in the package, which infers nothing.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bocage import estimators
from bocage.estimators import rows
from bocage.schema import Attribute, Categorical, Numeric, Schema

EDGES = np.linspace(-2.5, 2.5, 16)
QUIET = 100_000  # an epsilon with next to no noise: the checks want accuracy on 30 to 300 rows


class Declares(estimators.PrivateClassifier):
    """Declares ranges of numbers, and the labels of the check."""

    def _attribute(self, name: str) -> Attribute:
        return Categorical(name, tuple(map(str, range(len(EDGES) + 1))))

    def _columns(self, X: Any, schema: Schema) -> rows.Columns:  # noqa: N803 - scikit-learn's name
        return rows.columns(np.digitize(np.asarray(X, dtype=float), EDGES), schema)

    def _declared(self, X: Any, y: Any) -> Schema:  # noqa: N803 - scikit-learn's name
        names = rows.names_of(X) or [f"x{at}" for at in range(X.shape[1])]
        labels = np.unique(rows.labels(y)).tolist()
        if len(labels) == 1:  # one label is nothing to learn; the table of the check has no other
            labels.append(labels[0] + 1)
        values = tuple(str(label) for label in labels)
        return Schema("check", tuple(map(self._attribute, names)), Categorical("label", values))


class SulqID3(Declares, estimators.SulqID3Classifier):
    pass


class DiffPID3(Declares, estimators.DiffPID3Classifier):
    pass


class PrivateID3(Declares, estimators.PrivateID3Classifier):
    pass


class DPDF(Declares, estimators.DPDFClassifier):
    pass


class RandomTrees(Declares, estimators.RandomTreesClassifier):
    pass


class DiffPC45(Declares, estimators.DiffPC45Classifier):
    def _attribute(self, name: str) -> Attribute:
        return Numeric(name, -128, 128, cells=1024)

    def _columns(self, X: Any, schema: Schema) -> rows.Columns:  # noqa: N803 - scikit-learn's name
        return rows.columns(X if rows.names_of(X) else np.asarray(X, dtype=float), schema)


CHECKED = [
    SulqID3(epsilon=QUIET, depth=2),
    DiffPID3(epsilon=QUIET, depth=2, criterion="gini"),
    DiffPC45(epsilon=QUIET, depth=3, criterion="gini"),
    PrivateID3(epsilon=QUIET, depth=2),
    # One tree, because some checks have one column; no support, because they have few rows.
    DPDF(epsilon=QUIET, trees=1, depth=3, support=0),
    RandomTrees(epsilon=QUIET, trees=60, height=2),
]


@pytest.fixture(autouse=True)
def _same_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some checks compare two fits. The structures of random trees hold nothing of the data."""
    monkeypatch.setattr("bocage.learners.papers.rdt.SystemRandom", lambda: Random(6))  # noqa: S311 - as said


@pytest.mark.filterwarnings("ignore::bocage.estimators.TuningCost")  # the checks fit many times
@parametrize_with_checks(CHECKED)
def test_the_estimator_passes_the_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
