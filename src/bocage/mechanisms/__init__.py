"""Exact noise and exact private selection, on integers only.

::

    base                 the contract of a noise provider
    system, opendp       the two providers
    laplace              discrete Laplace            ┐ on finite_distribution: exact draws
    randomized_response  k-ary randomized response   ┘ from a few outcomes
    selection/           private selection: one of a list, or one of too many to list
    bernoulli            Bernoulli(exp(-p / q))
    knorm                noise on small tables, known within bounds       ┐ on exponential_variables,
    consistent_noise     the same on tables that have one sum             ┘ digit by digit
    body_points          what both have in common: random points of convex bodies
    local_tables         noise that a person's own machine draws, in Python and in JavaScript
    rng, bounds          the operating system's random words; integer bounds on exp
    accuracy, deviation  how far noise reaches (no draws)
    loss, local_loss     what each mechanism reveals (no draws)
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
from bocage.mechanisms.consistent_noise import ConsistentTables
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
from bocage.mechanisms.selection.rejection_sampling import Choices, Proposal, Proposed
from bocage.mechanisms.system import SystemNoise

__all__ = [
    "DEFAULT_CONFIDENCE",
    "Adjacency",
    "Body",
    "Choices",
    "ConsistentTables",
    "Contest",
    "FloatArray",
    "IntArray",
    "Noise",
    "OpenDPNoise",
    "Perturbation",
    "Proposal",
    "Proposed",
    "Roots",
    "Selection",
    "SystemNoise",
    "Tables",
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
