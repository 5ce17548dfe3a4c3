"""Exact noise and exact private selection, on integers only.

::

    base              the contract of a noise provider
    system, opendp    the two providers
    laplace           discrete Laplace            ┐
    response          k-ary randomized response   ┘ on table: exact draws from a fixed distribution
    exponential       exponential mechanism       ┐
    permute_and_flip  permute-and-flip            ┘ on batch: many contests at once
    walk              exponential mechanism over whole trees, by a walk that is corrected
    acceptance        the coin that corrects it
    bernoulli         Bernoulli(exp(-p / q))
    local_tables      noise that a person's own machine draws, in Python and in JavaScript
    exponentials      exponential variables, digit by digit
    knorm, agreeing   noise on small tables, known within bounds: on exponentials
    points            what both have in common
    rng, bounds       the operating system's random words; integer bounds on exp
    accuracy, loss, local_loss
                      how far noise reaches; what each mechanism reveals (no draws)
"""

from __future__ import annotations

from bocage.mechanisms.accuracy import (
    DEFAULT_CONFIDENCE,
    laplace_half_width,
    laplace_scale_for,
    laplace_standard_deviation,
    laplace_tail,
)
from bocage.mechanisms.base import Adjacency, Contest, FloatArray, IntArray, Noise, Selection
from bocage.mechanisms.consistent_noise import Agreeing
from bocage.mechanisms.deviation import deviations
from bocage.mechanisms.knorm import Body, Perturbation, Roots, Tables
from bocage.mechanisms.loss import (
    exponential_probabilities,
    laplace_loss,
    laplace_probability,
    permute_and_flip_probabilities,
    privacy_loss,
    response_probabilities,
)
from bocage.mechanisms.opendp import OpenDPNoise
from bocage.mechanisms.selection.by_rejection import Steps, Walk, Walked
from bocage.mechanisms.system import SystemNoise

__all__ = [
    "DEFAULT_CONFIDENCE",
    "Adjacency",
    "Agreeing",
    "Body",
    "Contest",
    "FloatArray",
    "IntArray",
    "Noise",
    "OpenDPNoise",
    "Perturbation",
    "Roots",
    "Selection",
    "Steps",
    "SystemNoise",
    "Tables",
    "Walk",
    "Walked",
    "deviations",
    "exponential_probabilities",
    "laplace_half_width",
    "laplace_loss",
    "laplace_probability",
    "laplace_scale_for",
    "laplace_standard_deviation",
    "laplace_tail",
    "permute_and_flip_probabilities",
    "privacy_loss",
    "response_probabilities",
]
