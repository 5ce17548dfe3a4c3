"""Runs inside the environment of a rival: a line of JSON in, a line of JSON out, until the end of input.

A request names a table and a partition into folds (npz files), a method with its setting, epsilon
and a fold; the answer has the accuracy on that fold in per cent and the CPU seconds of the fit. What
a rival raises is answered, not raised. Nothing but NumPy and the rival is imported. Rivals are told
everything that is public: domains, bounds, labels.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np


class Table:
    """Codes of categorical attributes, numbers of numeric ones, and what the schema says of them."""

    def __init__(self, path: str) -> None:
        file = np.load(path)
        self.x, self.y, self.classes = file["x"], file["y"], int(file["classes"])
        self.cells = file["cells"]  # 0: numeric
        self.lower, self.upper = file["lower"], file["upper"]

    def one_hot(self) -> np.ndarray:
        """A column of 0 and 1 for each value; numbers between 0 and 1."""
        columns = []
        for i, cells in enumerate(self.cells):
            if cells:
                columns.append(self.x[:, i, None] == np.arange(cells))
            else:
                span = self.upper[i] - self.lower[i]
                columns.append(((self.x[:, i] - self.lower[i]) / span)[:, None])
        return np.hstack(columns).astype(float)

    def encoded(self, encoding: str) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """The matrix and its public bounds."""
        if encoding == "codes":
            return self.x, (self.lower, self.upper)
        matrix = self.one_hot()
        return matrix, (np.zeros(matrix.shape[1]), np.ones(matrix.shape[1]))


@cache
def table_of(path: str) -> Table:
    return Table(path)


@cache
def matrix_of(path: str, encoding: str) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    return table_of(path).encoded(encoding)


@cache
def fold_of(path: str) -> np.ndarray:
    """The number of the fold that each row is tested in."""
    found: np.ndarray = np.load(path)["fold"]
    return found


class Frequent:
    """The most frequent label. Not private: what every rival should be better than."""

    def fit(self, _x: np.ndarray, y: np.ndarray) -> Frequent:
        self.label = np.bincount(y).argmax()
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.full(len(x), self.label)


class OneAgainstRest:
    """A binary learner for several labels: each has a model that gets its part of epsilon and delta."""

    def __init__(self, make: Any, classes: int) -> None:
        self.make, self.parts = make, classes if classes > 2 else 1

    def fit(self, x: np.ndarray, y: np.ndarray) -> OneAgainstRest:
        labels = range(self.parts) if self.parts > 1 else [1]
        self.models = [self.make(self.parts).fit(x, (y == c).astype(int)) for c in labels]
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        scores = np.column_stack([model.predict_proba(x)[:, -1] for model in self.models])
        if self.parts > 1:
            return scores.argmax(axis=1)
        return (scores[:, 0] > 0.5).astype(int)


class Boosted:
    """dp-xgboost for one label: a number of trees, each on a random part of the rows."""

    def __init__(self, epsilon: float, bounds: tuple[np.ndarray, np.ndarray], setting: dict[str, Any]) -> None:
        self.library = import_module("dp_xgboost")
        self.bounds = {"feature_min": bounds[0].tolist(), "feature_max": bounds[1].tolist()}
        self.rounds, self.setting = setting["rounds"], {**setting, "nthread": 1, "verbosity": 0}
        del self.setting["rounds"]
        part = setting.get("subsample", 1.0)  # rounds * log(1 + part (e^tree - 1)) is epsilon
        tree = float(np.log1p(np.expm1(epsilon / self.rounds) / part))
        self.setting |= {"tree_method": "approxDP", "dp_epsilon_per_tree": tree}
        self.setting |= {"objective": "binary:logistic", "base_score": 0.5, "lambda": 0.1}

    def fit(self, x: np.ndarray, y: np.ndarray) -> Boosted:
        rows = self.library.DMatrix(x, label=y, **self.bounds)
        self.model = self.library.train(self.setting, rows, num_boost_round=self.rounds)
        return self

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.model.predict(self.library.DMatrix(x, **self.bounds))
        return found[:, None]


def model_of(request: dict[str, Any], table: Table, bounds: tuple[np.ndarray, np.ndarray]) -> Any:
    """A model that can fit and predict, with the names of the rival's own settings."""
    method, epsilon, setting = request["method"], request["epsilon"], dict(request["setting"])
    setting.pop("encoding", None)
    classes = list(range(table.classes))
    if method == "most frequent class":
        return Frequent()
    if method == "DP-EBM":
        return OneAgainstRest(lambda parts: _boosting(request, table, setting, parts), table.classes)
    if method == "dp-xgboost":
        return OneAgainstRest(lambda parts: Boosted(epsilon / parts, bounds, setting), table.classes)
    library = import_module("diffprivlib.models")
    if method == "diffprivlib forest":
        return library.RandomForestClassifier(epsilon=epsilon, bounds=bounds, classes=classes, **setting)
    if method == "diffprivlib tree":
        return library.DecisionTreeClassifier(epsilon=epsilon, bounds=bounds, classes=classes, **setting)
    if method == "diffprivlib naive Bayes":
        return library.GaussianNB(epsilon=epsilon, bounds=bounds, **setting)
    if method == "diffprivlib logistic regression":
        norm = float(np.sqrt(len(table.cells)))  # each attribute adds 1 at most to the square
        return library.LogisticRegression(epsilon=epsilon, data_norm=norm, **setting)
    raise ValueError(f"no rival is called {method!r}.")


def _boosting(request: dict[str, Any], table: Table, setting: dict[str, Any], parts: int) -> Any:
    numeric = table.cells == 0
    bounds = {int(i): (table.lower[i], table.upper[i]) for i in np.flatnonzero(numeric)}
    return import_module("interpret.privacy").DPExplainableBoostingClassifier(
        epsilon=request["epsilon"] / parts,
        delta=request["delta"] / parts,
        feature_types=["continuous" if number else "nominal" for number in numeric],
        privacy_bounds=bounds,
        n_jobs=1,
        **setting,
    )


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Train on all folds but one, test on that one."""
    table = table_of(request["table"])
    matrix, bounds = matrix_of(request["table"], request["setting"].get("encoding", "codes"))
    test = fold_of(request["folds"]) == request["fold"]
    begin = time.process_time()
    model = model_of(request, table, bounds).fit(matrix[~test], table.y[~test])
    seconds = time.process_time() - begin
    guess = np.asarray(model.predict(matrix[test])).astype(int)
    return {"accuracy": 100 * float((guess == table.y[test]).mean()), "seconds": seconds}


def main() -> None:
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # what a rival prints is no answer
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - a rival may fail in any way; the others go on
            found = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
