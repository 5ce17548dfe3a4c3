"""The privacy layer: charges, counts, adds noise, releases. Only here do rows and noise meet."""

from bocage.mechanisms import Adjacency, Selection
from bocage.plan.splits import Split
from bocage.private.answer import Answer, Item, Kind
from bocage.private.choose import Candidate
from bocage.private.criteria import CRITERIA, Criterion, Doubled, criterion_named
from bocage.private.joint.score.family import (
    DrawnOrdinalScore,
    DrawnScorecard,
    OrdinalScores,
    Scorecards,
    Scores,
)
from bocage.private.joint.tree.sampler import MOST_DEPTH
from bocage.private.joint.tree.space import Drawn
from bocage.private.level import Level
from bocage.private.objective.fit import GRID_BITS, fit_columns
from bocage.private.owner import ProtectedTable, protect, study
from bocage.private.partition import PrivatePartition
from bocage.private.paths import Paths
from bocage.private.query import IntArray
from bocage.private.questions import EpsilonLike
from bocage.private.table import PrivateTable
from bocage.private.terms import Block

__all__ = [
    "CRITERIA",
    "GRID_BITS",
    "MOST_DEPTH",
    "Adjacency",
    "Answer",
    "Block",
    "Candidate",
    "Criterion",
    "Doubled",
    "Drawn",
    "DrawnOrdinalScore",
    "DrawnScorecard",
    "EpsilonLike",
    "IntArray",
    "Item",
    "Kind",
    "Level",
    "OrdinalScores",
    "Paths",
    "PrivatePartition",
    "PrivateTable",
    "ProtectedTable",
    "Scorecards",
    "Scores",
    "Selection",
    "Split",
    "criterion_named",
    "fit_columns",
    "protect",
    "study",
]
