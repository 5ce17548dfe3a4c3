"""One classifier for each learner; the parameters are the learner's own."""

from __future__ import annotations

from bocage.estimators.base import PrivateClassifier
from bocage.learners import (
    DPDF,
    Additive,
    Auto,
    Bayes,
    DiffPC45,
    DiffPID3,
    PrivateID3,
    RandomTrees,
    ReadableTree,
    Scorecard,
    SulqID3,
)

__all__ = [
    "AdditiveClassifier",
    "AutoClassifier",
    "BayesClassifier",
    "DPDFClassifier",
    "DiffPC45Classifier",
    "DiffPID3Classifier",
    "PrivateID3Classifier",
    "RandomTreesClassifier",
    "ReadableTreeClassifier",
    "ScorecardClassifier",
    "SulqID3Classifier",
]


class SulqID3Classifier(PrivateClassifier, learner=SulqID3):
    """SuLQ-based ID3 (Friedman & Schuster 2010, Algorithm 1): gain from noisy counts."""


class DiffPID3Classifier(PrivateClassifier, learner=DiffPID3):
    """DiffPID3 (Friedman & Schuster 2010, Algorithm 2): one private selection per split."""


class DiffPC45Classifier(PrivateClassifier, learner=DiffPC45):
    """DiffPC4.5 (Friedman & Schuster 2010, sections 4.2 and 4.3): numeric splits and pruning."""


class PrivateID3Classifier(PrivateClassifier, learner=PrivateID3):
    """Private ID3 from sum queries (Jagannathan, Pillaipakkamnatt & Wright 2012, section 4)."""


class DPDFClassifier(PrivateClassifier, learner=DPDF):
    """DPDF, a decision forest (Fletcher & Islam 2015, Algorithm 1), with a sound sensitivity."""


class RandomTreesClassifier(PrivateClassifier, learner=RandomTrees):
    """Random decision trees (Jagannathan, Pillaipakkamnatt & Wright 2012, Algorithm 4)."""


class ReadableTreeClassifier(PrivateClassifier, learner=ReadableTree):
    """One readable tree, as accurate as its epsilon allows."""


class ScorecardClassifier(PrivateClassifier, learner=Scorecard):
    """A scorecard: points of some attributes that add up, and a threshold."""


class AdditiveClassifier(PrivateClassifier, learner=Additive):
    """Small tables of scores that add up: accuracy first."""


class BayesClassifier(PrivateClassifier, learner=Bayes):
    """Log-odds of single attributes and of pairs, from noisy counts."""


class AutoClassifier(PrivateClassifier, learner=Auto):
    """A readable tree or a scorecard, an additive model or tables of counts: by a rule or a trial."""
