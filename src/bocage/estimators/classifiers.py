"""One classifier for each learner; the parameters are the learner's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

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
from bocage.schema import Schema

SchemaLike = Schema | str | Path | None


class SulqID3Classifier(PrivateClassifier):
    """SuLQ-based ID3 (Friedman & Schuster 2010, Algorithm 1): gain from noisy counts.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    depth, sizes, printed, attributes
        As in :class:`~bocage.learners.SulqID3`.
    """

    learner = SulqID3

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        depth: int = 5,
        sizes: Literal["asked", "summed"] = "asked",
        printed: bool = False,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.depth = depth
        self.sizes = sizes
        self.printed = printed
        self.attributes = attributes


class DiffPID3Classifier(PrivateClassifier):
    """DiffPID3 (Friedman & Schuster 2010, Algorithm 2): one private selection per split.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    depth, criterion, selection, printed, attributes
        As in :class:`~bocage.learners.DiffPID3`.
    """

    learner = DiffPID3

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        depth: int = 5,
        criterion: str = "max",
        selection: str = "permute_and_flip",
        printed: bool = False,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.depth = depth
        self.criterion = criterion
        self.selection = selection
        self.printed = printed
        self.attributes = attributes


class DiffPC45Classifier(PrivateClassifier):
    """DiffPC4.5 (Friedman & Schuster 2010, sections 4.2 and 4.3): numeric splits and pruning.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    depth, criterion, selection, points, prune, confidence, printed, attributes
        As in :class:`~bocage.learners.DiffPC45`.
    """

    learner = DiffPC45

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        depth: int = 5,
        criterion: str = "max",
        selection: str = "permute_and_flip",
        points: Literal["joint", "separate"] = "joint",
        prune: bool = True,
        confidence: float = 0.25,
        printed: bool = False,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.depth = depth
        self.criterion = criterion
        self.selection = selection
        self.points = points
        self.prune = prune
        self.confidence = confidence
        self.printed = printed
        self.attributes = attributes


class PrivateID3Classifier(PrivateClassifier):
    """Private ID3 from sum queries (Jagannathan, Pillaipakkamnatt & Wright 2012, section 4).

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    depth, most_nodes, attributes
        As in :class:`~bocage.learners.PrivateID3`.
    """

    learner = PrivateID3

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        depth: int | None = None,
        most_nodes: int = 20_000,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.depth = depth
        self.most_nodes = most_nodes
        self.attributes = attributes


class DPDFClassifier(PrivateClassifier):
    """DPDF, a decision forest (Fletcher & Islam 2015, Algorithm 1), with a sound sensitivity.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    trees, depth, support, sensitivity, selection, attributes
        As in :class:`~bocage.learners.DPDF`.
    """

    learner = DPDF

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        trees: int = 4,
        depth: int = 5,
        support: int = 100,
        sensitivity: Literal["global", "local"] = "global",
        selection: str = "permute_and_flip",
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.trees = trees
        self.depth = depth
        self.support = support
        self.sensitivity = sensitivity
        self.selection = selection
        self.attributes = attributes


class RandomTreesClassifier(PrivateClassifier):
    """Random decision trees (Jagannathan, Pillaipakkamnatt & Wright 2012, Algorithm 4).

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    trees, height, rows, parts, attributes
        As in :class:`~bocage.learners.RandomTrees`.
    """

    learner = RandomTrees

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        trees: int | None = None,
        height: int | None = None,
        rows: int | None = None,
        parts: str | None = None,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.trees = trees
        self.height = height
        self.rows = rows
        self.parts = parts
        self.attributes = attributes


class ReadableTreeClassifier(PrivateClassifier):
    """One readable tree, as accurate as its epsilon allows.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    rows, leaves, attributes, drawn, scorecards, ordinal_scores
        As in :class:`~bocage.learners.ReadableTree`.
    """

    learner = ReadableTree

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        rows: int | None = None,
        leaves: int = 1024,
        attributes: Sequence[str] | None = None,
        drawn: bool = True,
        scorecards: bool = False,
        ordinal_scores: bool = True,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.rows = rows
        self.leaves = leaves
        self.attributes = attributes
        self.drawn = drawn
        self.scorecards = scorecards
        self.ordinal_scores = ordinal_scores


class ScorecardClassifier(PrivateClassifier):
    """Points of some attributes that add up, and a threshold.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    attributes
        As in :class:`~bocage.learners.Scorecard`.
    """

    learner = Scorecard

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.attributes = attributes


class AdditiveClassifier(PrivateClassifier):
    """Small tables of scores that add up: accuracy first.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    cells, attributes
        As in :class:`~bocage.learners.Additive`.
    """

    learner = Additive

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        cells: str = "auto",
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.cells = cells
        self.attributes = attributes


class BayesClassifier(PrivateClassifier):
    """Log-odds of single attributes and of pairs, from noisy counts.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    pairs, attributes
        As in :class:`~bocage.learners.Bayes`.
    """

    learner = Bayes

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        pairs: bool = True,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.pairs = pairs
        self.attributes = attributes


class AutoClassifier(PrivateClassifier):
    """A readable tree or points, an additive model or tables of counts: by a rule or a trial.

    Parameters
    ----------
    schema
        The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
    epsilon
        What a fit costs.
    attributes
        As in :class:`~bocage.learners.Auto`.
    """

    learner = Auto

    def __init__(
        self,
        schema: SchemaLike = None,
        epsilon: Any = 1.0,
        *,
        attributes: Sequence[str] | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.attributes = attributes
