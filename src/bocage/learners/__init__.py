"""Learners: private in, model out.

base, plan                     what each of them has: parameters, a plan, a certificate
frontier                       the open nodes of a growing tree, beside the cells that are asked
noisy_tables, discretization,  what several of them count or choose before they learn
attribute_selection,
forest_size
papers/                        one file for each published algorithm
readable/  score/              one small tree; points that add up
additive/  bayes/              tables that add up: fitted at once, or counted
auto/                          which of these to take
"""

from bocage.learners.additive.learner import Additive
from bocage.learners.auto.learner import Auto
from bocage.learners.base import Learner, Progress
from bocage.learners.bayes.learner import Bayes
from bocage.learners.papers.batches import NoiseAfter, noise_after
from bocage.learners.papers.diffp_c45 import DiffPC45
from bocage.learners.papers.diffp_id3 import DiffPID3
from bocage.learners.papers.dpdf import DPDF
from bocage.learners.papers.private_id3 import PrivateID3
from bocage.learners.papers.rdt import RandomTrees
from bocage.learners.papers.sulq_id3 import SulqID3
from bocage.learners.plan import Plan, Step
from bocage.learners.readable.learner import ReadableTree
from bocage.learners.score.learner import Scorecard

LEARNERS: dict[str, type[Learner]] = {
    learner.name: learner
    for learner in (
        SulqID3,
        DiffPID3,
        DiffPC45,
        PrivateID3,
        DPDF,
        RandomTrees,
        ReadableTree,
        Scorecard,
        Additive,
        Bayes,
        Auto,
    )
}

__all__ = [
    "DPDF",
    "LEARNERS",
    "Additive",
    "Auto",
    "Bayes",
    "DiffPC45",
    "DiffPID3",
    "Learner",
    "NoiseAfter",
    "Plan",
    "PrivateID3",
    "Progress",
    "RandomTrees",
    "ReadableTree",
    "Scorecard",
    "Step",
    "SulqID3",
    "noise_after",
]
