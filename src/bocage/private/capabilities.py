"""What a learner needs of a noise provider that not every one has: found out before the charge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from bocage.mechanisms import Contest, Noise, Proposed, Selection, Tables

Capability = Callable[[Noise], object]  # raises what the provider will raise


def weights(noise: Noise) -> object:
    """A selection with weights, which thresholds of numeric attributes have."""
    contest = Contest(np.zeros(2, np.int64), Fraction(1), np.array([1, 2]))
    return noise.select([contest], Selection.EXPONENTIAL)


def tables(noise: Noise) -> object:
    """Noise on the tables of an additive model."""
    return noise.perturb([Tables(Fraction(1), (2,))])


def draws_by_rejection(noise: Noise) -> object:
    """A draw of whole trees."""
    return noise.draw_by_rejection(lambda _: Proposed(0, 0, (1, 1)), Fraction(1), 0.0)
