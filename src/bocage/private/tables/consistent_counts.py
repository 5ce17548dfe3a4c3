"""The counts of several tables of the same rows, with noise that knows that their sums agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bocage.errors import PlanError
from bocage.mechanisms import ConsistentTables, Noise, Perturbation, deviations
from bocage.plan import OUTSIDE, Cells, Tally
from bocage.plan.cells import targets_of
from bocage.private.noise_shares import groups_of
from bocage.private.query import IntArray, Place, Terms
from bocage.private.tables.ensemble import Ensemble
from bocage.private.transcript import Used

MOST_CELLS = 2**10  # of a table: the weights of more are too large to compute with
ROUNDING = 1 / 12  # the variance of what rounding to whole counts adds


@dataclass(frozen=True)
class Spread:
    """How far the noise of tables reaches. Public: it follows from their sizes and epsilon.

    Attributes
    ----------
    cells
        For each table the variance of a cell, as if its cells were independent and the sum of each
        label known.
    groups
        Tables whose sums have the same noise, and its variance.
    """

    cells: tuple[float, ...]
    groups: tuple[tuple[tuple[int, ...], float], ...]


@dataclass(frozen=True)
class ConsistentCounts(Ensemble):
    """The label counts of every cell of several routers, less noisy than those of an ensemble.

    Privacy
    -------
    A router may leave rows outside all of its cells. Its table then has one more cell, for these, and
    that cell is drawn like any other and not released. So a record that is added is in one cell of
    each table, with one label: of that label's counts, it
    raises one in each table by 1, and with it the sum of each table. For each label, tables of
    similar size have a noise of their own with the density exp(-rate * norm) on the space of tables with one
    sum, where the norm is the largest of their L1 norms (:mod:`bocage.mechanisms.consistent_noise`). What the
    record moves has a norm of 1, and the rates of all groups of tables add up to epsilon; the counts
    of the other labels do not move. So the density of all noisy counts, as real numbers, changes by
    a factor within exp(±epsilon). They are released rounded to whole numbers, which is
    post-processing: the noise is drawn to as many digits as the rounding needs, and no more is
    computed from it. Leaving out a cell is post-processing too. Without that cell the tables would
    not have one sum, and the difference of two released sums would be the exact number of the rows
    that one router leaves outside and the other does not.
    """

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "ask": "agreeing counts"}

    def check(self, terms: Terms, place: Place) -> None:
        if max(self.sizes, default=0) > MOST_CELLS:
            raise PlanError(
                f"a table of such counts has at most {MOST_CELLS} cells, not {max(self.sizes)}: "
                "take coarser cells, or count an ensemble."
            )
        super().check(terms, place)

    @property
    def sizes(self) -> list[int]:
        """The cells of each table, with that of the rows which its router leaves outside, if any."""
        return [router.count + leaves_rows_outside(router) for router in self.routers]

    def spread(self, terms: Terms) -> Spread:
        """How far the noise reaches. Public: it costs nothing."""
        return spread(self.sizes, self.epsilon.fraction / terms.steps)

    def rehearse(self, terms: Terms, noise: Noise) -> None:
        noise.perturb(bodies([2], self.epsilon.fraction / terms.steps))

    def uses(self, terms: Terms) -> Sequence[Used]:
        """Each group of tables has noise of its own, and there a record costs what its rate is."""
        each = bodies(self.sizes, self.epsilon.fraction / terms.steps)
        return [Used("noise on tables that agree", tuple(body.rate * terms.steps for body in each))]

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[IntArray]:
        """For each router noisy counts of shape (cells, labels)."""
        sizes, labels = self.sizes, tally.totals.shape[1]
        each = bodies(sizes, self.epsilon.fraction / terms.steps)
        drawn = rounded(noise.perturb(each * labels))
        order = [i for group in groups_of(sizes) for i in group]
        noisy: list[IntArray] = [np.empty(0, np.int64)] * len(sizes)
        exact = self.by_router(tally.totals)
        for at, i in enumerate(order):
            own = np.concatenate(drawn[at :: len(sizes)], axis=1)
            noisy[i] = exact[i] + own[: len(exact[i])]
        return noisy


def leaves_rows_outside(router: Cells) -> bool:
    """Whether a row may be in none of the cells. Public: it follows from the router alone."""
    return any(target == OUTSIDE for node in router.nodes for target in targets_of(node))


def bodies(sizes: Sequence[int], rate: Fraction) -> list[ConsistentTables]:
    """The noise of one label: each group of tables has a share of the rate for each of its tables."""
    groups = groups_of(sizes)
    shares = [rate * len(group) / len(sizes) for group in groups]
    return [
        ConsistentTables(share, tuple(sizes[i] for i in group)) for group, share in zip(groups, shares, strict=True)
    ]


def spread(sizes: Sequence[int], rate: Fraction) -> Spread:
    """How far the noise of tables of these sizes reaches."""
    cells, groups = [0.0] * len(sizes), []
    for group, body in zip(groups_of(sizes), bodies(sizes, rate), strict=True):
        total, *own = deviations(ConsistentTables(body.rate, (1, *body.sizes)))
        groups.append((tuple(group), total**2 + ROUNDING * min(body.sizes)))
        for i, deviation in zip(group, own, strict=True):
            cells[i] = deviation**2 * sizes[i] / max(sizes[i] - 1, 1) + ROUNDING
    return Spread(tuple(cells), tuple(groups))


def rounded(noise: Perturbation) -> list[IntArray]:
    """The noise as whole numbers, rounded half up; digits are drawn until nothing is left open."""
    while True:
        half = 1 << (noise.bits - 1)
        ends = [((low + half) >> noise.bits, (high + half) >> noise.bits) for low, high in noise.bounds()]
        if all((low == high).all() for low, high in ends):
            return [low.astype(np.int64) for low, _ in ends]
        noise.refine()
