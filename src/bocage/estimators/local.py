"""Trees from distorted records as a scikit-learn classifier."""

# ruff: noqa: N803, N806
# X is scikit-learn's name.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from bocage.errors import EstimatorError
from bocage.estimators import rows
from bocage.estimators.base import ModelClassifier, read_public
from bocage.local import Records, Survey, SurveyTree
from bocage.local.reconstruct import Stop
from bocage.local.survey import FINGERPRINT
from bocage.local.tree_parameters import Algorithm

_NO_SURVEY = (
    "{name} needs the survey that the records were sent under: the domains and the noise are "
    "declared, never taken from the records. Give survey= a bocage.local.Survey or its file, or fit "
    "a bocage.local.Records, which has one."
)


class SurveyTreeClassifier(ModelClassifier):
    """Trees from distorted records (Agrawal & Srikant 2000), in five algorithms.

    Fit it with records as they were sent; predict for records that are not distorted.

    Parameters
    ----------
    survey
        The :class:`~bocage.local.Survey` or its file. Not needed for :class:`~bocage.local.Records`.
    algorithm, intervals, stop, small, fewest, most_depth, prune, attributes
        As in :class:`~bocage.local.SurveyTree`.

    Attributes
    ----------
    tree_
        The frozen :class:`~bocage.model.Tree`; also as `model_`.
    certificate_
        What the people who sent the records are guaranteed.
    classes_
        All declared labels, sorted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Privacy
    -------
    Nothing is charged, and fitting again costs nothing: every person protected their own record.
    A score on records that nobody distorted is computed where these records are.
    """

    def __init__(
        self,
        survey: Survey | str | Path | None = None,
        *,
        algorithm: Algorithm = "byclass",
        intervals: int | None = None,
        stop: Stop = "chi_square",
        small: int = 3_000,
        fewest: int = 2,
        most_depth: int = 40,
        prune: bool = True,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.survey = survey
        self.algorithm = algorithm
        self.intervals = intervals
        self.stop = stop
        self.small = small
        self.fewest = fewest
        self.most_depth = most_depth
        self.prune = prune
        self.attributes = attributes

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a tree.

        Parameters
        ----------
        X
            :class:`~bocage.local.Records`, with the label in them; or the answers as they were sent,
            in the units of their columns, as a frame or as an array in the order of the survey.
        y
            The labels as they were sent, if X is not Records.
        """
        learner = self._learner()
        if isinstance(X, Records):
            records, targets = self._given(X, y), None
            self._name_features(records.survey.schema)
        else:
            X, targets = rows.checked(self, X, y, reset=True)
            records = self._records(X, targets)
        self._keep(learner.fit(records), targets)
        return self

    def _learner(self) -> SurveyTree:
        names = self.attributes
        return SurveyTree(
            self.algorithm,
            self.intervals,
            self.stop,
            self.small,
            self.fewest,
            self.most_depth,
            self.prune,
            None if names is None else tuple(map(str, names)),
        )

    def _given(self, records: Records, y: Any) -> Records:
        if y is not None:
            raise EstimatorError("Records have their label in them: fit(records) takes no y.")
        if self.survey is not None and self._read().fingerprint != records.survey.fingerprint:
            raise EstimatorError(
                "the records were sent under another survey than the one given. Leave survey out: "
                "Records bring their own."
            )
        return records

    def _records(self, X: Any, y: NDArray[Any]) -> Records:
        survey = self._declared(X, y)
        label = survey.schema.label
        if label is None:
            raise EstimatorError(f"survey {survey.schema.name!r} asks for no label (target).")
        rows.classes(label.values, y)  # refused before anything is learned
        columns = {**self._columns(X, survey), label.name: rows.labels(y)}
        names = rows.names_of(X) or ()
        mark = X[FINGERPRINT] if FINGERPRINT in names else [survey.fingerprint] * len(y)
        return Records.from_table(survey, {**columns, FINGERPRINT: mark})

    def _declared(self, X: Any, y: Any) -> Survey:  # noqa: ARG002 - records declare nothing
        if self.survey is None:
            raise EstimatorError(_NO_SURVEY.format(name=type(self).__name__))
        return self._read()

    def _read(self) -> Survey:
        return read_public(self.survey, Survey, "survey is a bocage.local.Survey or its file")

    def _columns(self, X: Any, survey: Survey) -> rows.Columns:
        return rows.columns(X, survey.schema)
