"""The learners as scikit-learn classifiers. Needs the extra ``bocage[sklearn]``."""

from bocage.estimators.base import PrivateClassifier
from bocage.estimators.classifiers import (
    AdditiveClassifier,
    AutoClassifier,
    BayesClassifier,
    DiffPC45Classifier,
    DiffPID3Classifier,
    DPDFClassifier,
    PrivateID3Classifier,
    RandomTreesClassifier,
    ReadableTreeClassifier,
    ScorecardClassifier,
    SulqID3Classifier,
)
from bocage.estimators.cost import TuningCost
from bocage.estimators.local import SurveyTreeClassifier

__all__ = [
    "AdditiveClassifier",
    "AutoClassifier",
    "BayesClassifier",
    "DPDFClassifier",
    "DiffPC45Classifier",
    "DiffPID3Classifier",
    "PrivateClassifier",
    "PrivateID3Classifier",
    "RandomTreesClassifier",
    "ReadableTreeClassifier",
    "ScorecardClassifier",
    "SulqID3Classifier",
    "SurveyTreeClassifier",
    "TuningCost",
]
