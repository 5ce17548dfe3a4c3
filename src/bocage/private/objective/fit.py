"""The joint fit of an additive model: one release for all of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise, Tables
from bocage.plan import Question
from bocage.private.preconditions import check_labels, check_whole
from bocage.private.query import Fit, IntArray, Place, Terms
from bocage.private.terms import Block, Calibration, Design, calibrate
from bocage.private.transcript import Used
from bocage.schema import Schema

GRID_BITS = 10  # released numbers are multiples of 2**-GRID_BITS
MOST_COUNT = 2**62
MOST_PRIOR = 64 << GRID_BITS
SHRINKAGE = 10

Fitted = tuple[IntArray, list[IntArray]]


@dataclass(frozen=True)
class AdditiveFit(Fit[Fitted]):
    """Logistic (two labels) or multinomial loss over one table per term, minimized once with noise.

    A row's score for a label is a public prior, plus an intercept, plus one entry of each table. The tables are
    centered. Where little data makes penalties large, all of these are scaled down together: for two or three labels
    the prior too, by what penalties leave of a table on average. With w for all parameters and L_r for the logarithmic
    loss of row r,

        w* = argmin  sum_r L_r(w) + 1/2 sum_t lambda_t |w_t|**2 + <beta, w>,

    and what is released is w*, the levels of each term added up and rounded to multiples of
    ``2**-GRID_BITS``, with the prior on top of the intercept.

    Parameters
    ----------
    prior
        For each column of the tables a public score, in units of ``2**-GRID_BITS``.
    rows
        About how many rows there are: a declared or a released number. It sets penalties.

    Privacy
    -------
    Let beta have a density proportional to exp(-||beta||), where || || is a sum of norms with rates
    that add up to epsilon_b, and each norm is at most 1, before its rate, for what a record's
    features can be (the centered indicators of its cells; `knorm` has the bodies. Tables that agree have
    noise on the indicators themselves, which a record raises in one cell of each table, so that
    the norm is 1; centering it, and taking its sum for the intercept, is a projection, under which
    no ratio of densities grows). Let x be the
    features of a record to be added, p its predicted probabilities at w, and q = 1 - p_y the
    probability of a wrong label.

    1. The function is strongly convex and smooth, so that w and beta determine each other: beta is
       minus the gradient of the rest at w. The density of w* is f(beta(w)) |det H(w)|, with H the
       Hessian of everything but <beta, w>. It suffices to bound its ratio at every w.
    2. The record changes beta(w) by its own gradient, whose columns are x times p_c - [c = y].
       Two or three labels have columns for all labels but the first, each with |p_c - [c = y]| <= q,
       and the norm of several columns is the largest of theirs; more labels have them all, and the
       positive part of p - e_y is q. Either way the norm is at most q: f changes by a factor within
       exp(±epsilon_b q).
    3. H grows by H_r = (diag(p) - p p^T) ⊗ x x^T, restricted to the columns in use. It is positive
       semidefinite, so removing the record can only shrink the determinant; adding it multiplies
       the determinant by at most exp(tr(H_r diag(lambda)^-1)) <= exp(rho (1 - sum_c p_c**2)), where
       rho >= sum_t |x_t|**2 / lambda_t. For two labels with one column the factor is instead
       1 + q (1-q) rho at most.
    4. Two labels: epsilon_b = rho = epsilon. The logarithm of the ratio is at most
       epsilon (q + q (1-q)) = epsilon (2q - q**2) <= epsilon. The determinant costs nothing where
       the gradient costs most.
    5. K > 2 labels: 1 - sum p**2 <= 2q - q**2 K/(K-1), with equality where all wrong labels are
       equally likely. With rho = epsilon/4 and epsilon_b = epsilon - rho (K-2)/(K-1), the bound
       epsilon_b q + rho (2q - q**2 K/(K-1)) increases up to q = 1, where it is
       epsilon_b + rho (K-2)/(K-1) = epsilon.
    6. Removing the record: step 2 alone, at most epsilon_b <= epsilon.

    So w* is epsilon-DP under add/remove, as a real vector; neighbors that are two records apart get
    half the rate. The rounded sum is post-processing. It is computed from w* itself, not from an
    approximation: `certify` returns it only when it is the same for every real number that the
    digits of beta drawn so far and the rounding of the computation leave open. No released bit
    depends on floating-point noise. Penalties and rates are computed here, from public numbers, and
    never below what the proof needs.

    Not covered: the time that a fit takes depends on the rows, as that of every computation here.
    """

    blocks: tuple[Block, ...]
    label: str
    prior: tuple[int, ...]
    rows: int
    epsilon: Epsilon

    def words(self) -> str:
        return f"additive model of {len(self.blocks)} terms for {self.label}"

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used("K-norm objective perturbation", (self.epsilon.fraction,))]

    def question(self, place: Place) -> Question:
        names = dict.fromkeys((*(n for block in self.blocks for n in block.columns), self.label))
        return Question(place.cells, place.where, columns=tuple(names))

    def check(self, terms: Terms, place: Place) -> None:
        check_whole(place, self.words())
        check_labels(terms.schema[self.label].cells, self.words())
        design = self.design(terms.schema)
        design.check(terms.schema)
        self.question(place).check(terms.schema)
        if any(self.label in block.columns for block in self.blocks):
            raise PlanError("the label cannot be a term of its own model.")
        if len(self.prior) != design.columns or max(map(abs, self.prior)) > MOST_PRIOR:
            raise PlanError(f"a prior needs {design.columns} scores within ±{MOST_PRIOR}.")
        if not 1 <= self.rows <= MOST_COUNT:
            raise PlanError(f"an additive model needs a number of rows from 1 to {MOST_COUNT}, not {self.rows}.")

    def rehearse(self, noise: Noise) -> None:
        noise.perturb([Tables(self.epsilon.fraction, (2,))])

    def design(self, schema: Schema) -> Design:
        return Design(self.blocks, schema[self.label].cells)

    def calibration(self, terms: Terms) -> Calibration:
        rate = self.epsilon.fraction / terms.steps
        return calibrate(self.design(terms.schema), rate, self.rows, SHRINKAGE)

    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> Fitted:
        from bocage.private.objective.residuals import FitRows  # noqa: PLC0415 - a compiler
        from bocage.private.objective.rounding import Problem, rounded_minimum  # noqa: PLC0415 - likewise

        design, calibration = self.design(terms.schema), self.calibration(terms)
        rows = FitRows(read, design, terms.schema)
        prior = np.rint(np.array(self.prior) * calibration.kept).astype(np.int64)
        problem = Problem(rows, design, calibration, prior, noise.perturb(calibration.bodies))
        entries = rounded_minimum(problem).astype(np.int64)
        return prior + entries[0], np.split(entries[1:], design.offsets[1:].tolist())


def fit_columns(labels: int) -> int:
    """How many columns the tables have: all labels but the first if there are two or three."""
    return Design((), labels).columns
