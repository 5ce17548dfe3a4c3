"""The learners as scikit-learn classifiers. Needs the extra ``bocage[sklearn]``."""

from bocage.estimators import classifiers
from bocage.estimators.base import PrivateClassifier
from bocage.estimators.classifiers import *  # noqa: F403 - one for each learner, named there
from bocage.estimators.cost import TuningCost
from bocage.estimators.local import SurveyTreeClassifier

__all__ = ["PrivateClassifier", "SurveyTreeClassifier", "TuningCost"]
__all__ += classifiers.__all__
