"""The privacy layer: charges, counts, adds noise, releases. Only here do rows and noise meet.

    owner -> table, partition -> questions -> executor -> answer        one question, one answer
                  |
                  +-> reserve -> cells -> ask, fit                       a learner's inner loop

The rooms `joint`, `objective` and `tables` hold what can be fitted and asked beside single counts, sums and
choices. They build on the core, and the core does not know them: a question or a fit is data that
`executor` charges for, whichever it is.
"""

from bocage.mechanisms import Adjacency, Selection
from bocage.plan.splits import Split
from bocage.private.answer import Answer, Item, Kind
from bocage.private.cells import OpenCells
from bocage.private.choose import Candidate, Choose, Mode
from bocage.private.count import Count, Counts
from bocage.private.criteria import CRITERIA, Criterion, Doubled, criterion_named
from bocage.private.joint.mixture import OneOf
from bocage.private.joint.score.counts import ScoredCounts
from bocage.private.joint.score.family import (
    DrawnOrdinalScore,
    DrawnScorecard,
    OrdinalScores,
    Scorecards,
    Scores,
)
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.joint.tree.sampler import MOST_DEPTH, DrawnTrees
from bocage.private.joint.tree.space import Drawn
from bocage.private.objective.boosting import Boosting
from bocage.private.objective.fit import GRID_BITS, AdditiveFit, fit_columns
from bocage.private.owner import ProtectedTable, protect, study
from bocage.private.partition import PrivatePartition
from bocage.private.query import IntArray
from bocage.private.questions import EpsilonLike
from bocage.private.table import PrivateTable
from bocage.private.tables.comparison import BestModel
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.private.tables.histograms import Histograms
from bocage.private.terms import Block
from bocage.private.unsound import LocalGini

__all__ = [
    "CRITERIA",
    "GRID_BITS",
    "MOST_DEPTH",
    "AdditiveFit",
    "Adjacency",
    "Answer",
    "BestModel",
    "Block",
    "Boosting",
    "Candidate",
    "Choose",
    "ConsistentCounts",
    "Count",
    "Counts",
    "Criterion",
    "Doubled",
    "Drawn",
    "DrawnOrdinalScore",
    "DrawnScorecard",
    "DrawnScores",
    "DrawnTrees",
    "Ensemble",
    "EpsilonLike",
    "Histograms",
    "IntArray",
    "Item",
    "Kind",
    "LocalGini",
    "Mode",
    "OneOf",
    "OpenCells",
    "OrdinalScores",
    "PrivatePartition",
    "PrivateTable",
    "ProtectedTable",
    "Scorecards",
    "ScoredCounts",
    "Scores",
    "Selection",
    "Split",
    "criterion_named",
    "fit_columns",
    "protect",
    "study",
]
