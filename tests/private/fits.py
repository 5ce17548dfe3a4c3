"""Small additive fits, with real noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bocage.mechanisms import Perturbation
from bocage.mechanisms.rng import RandomBits
from bocage.private import DrawnScores, DrawnTrees, OneOf
from bocage.private.objective import rounding
from bocage.private.objective.fit import GRID_BITS
from bocage.private.objective.minimizer import Descent, to_float
from bocage.private.objective.residuals import FitRows
from bocage.private.objective.rounding import Problem
from bocage.private.terms import Block, Design, calibrate
from bocage.schema import Categorical, Schema

SCHEMA = Schema(
    "t",
    (Categorical("a", ("x", "y")), Categorical("b", ("p", "q", "r", "s"))),
    Categorical("label", tuple("01234567")),
)
A, B = Block(("a",), (2,), (2,)), Block(("b",), (4,), (2, 4))
EPSILON = Fraction(1)


def problem(blocks, labels, rows=60, bits=56, seed=0, *, epsilon=EPSILON, told=False):
    """A table of that many rows, with real noise of which that many digits are drawn.

    If `told`, a tells whether the label is even: some labels have no row in either half.
    """
    rng = np.random.default_rng(seed)
    lines = np.array(
        [rng.integers(0, 2, rows), rng.integers(0, 4, rows), rng.integers(0, labels, rows)],
        np.uint16,
    )
    if told:
        lines[0] = lines[2] % 2
    names = dict.fromkeys(n for block in blocks for n in block.columns)
    used = np.stack([*(lines["ab".index(n)] for n in names), lines[2]])
    design = Design(tuple(blocks), labels)
    calibration = calibrate(design, epsilon, max(rows, 1), 10)
    prior = rng.integers(-900, 900, design.columns)
    return Problem(
        FitRows(lambda: iter([used]), design, SCHEMA),
        design,
        calibration,
        prior,
        Perturbation(calibration.bodies, RandomBits(), bits),
    )


def searcher(one):
    """A search by floating point that has not begun."""
    noise = to_float(rounding._middle(one), one.noise.bits + 1)
    return Descent(one.rows, one.design, one.calibration, one.prior / 2.0**GRID_BITS, noise)


def at(one, value):
    """A point far from the minimum, examined."""
    far = np.full((sum(one.design.sizes), one.design.columns), value << 40, object)
    return rounding._examine(one, rounding._balanced(far, one.design), 40)


def one_of(paths, among, depth, room, others, *, favor=0):
    """A tree, or one of the others, drawn for all that the only cell has left."""
    (epsilon,) = paths.purses()
    trees = DrawnTrees(paths.cells, (tuple(among),), "label", depth, (room,), (epsilon,))
    fits = tuple(DrawnScores("label", epsilon, other) for other in others)
    return paths.fit(OneOf(trees, fits, favor))
