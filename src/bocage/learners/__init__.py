"""One file per published algorithm; private in, model out."""

from bocage.learners.additive import Additive
from bocage.learners.auto import Auto
from bocage.learners.base import Learner, Progress
from bocage.learners.batches import NoiseAfter, noise_after
from bocage.learners.bayes import Bayes
from bocage.learners.diffp_c45 import DiffPC45
from bocage.learners.diffp_id3 import DiffPID3
from bocage.learners.dpdf import DPDF
from bocage.learners.plan import Plan, Step
from bocage.learners.points import PointSystem
from bocage.learners.private_id3 import PrivateID3
from bocage.learners.rdt import RandomTrees
from bocage.learners.readable import ReadableTree
from bocage.learners.sulq_id3 import SulqID3

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
        PointSystem,
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
    "PointSystem",
    "PrivateID3",
    "Progress",
    "RandomTrees",
    "ReadableTree",
    "Step",
    "SulqID3",
    "noise_after",
]
