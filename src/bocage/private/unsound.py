"""Selections that are not differentially private, kept to study the papers that proposed them.

They are refused on a table with a ledger, and no model made with them carries an epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from bocage.epsilon import Epsilon
from bocage.mechanisms import Contest, Noise, Selection
from bocage.plan import Tally
from bocage.plan.splits import Split
from bocage.private.choose import Candidate, Choose
from bocage.private.criteria import Gini
from bocage.private.query import IntArray, Terms
from bocage.private.transcript import Used

_UNITS = 2**20


@dataclass(frozen=True)
class LocalGini(Choose):
    """Fletcher & Islam (2015), Q2: the normalized Gini index with the sensitivity of a noisy size.

    Privacy
    -------
    None. The scale 2n/(n+1)² is evaluated at a noisy size that may be far above the true one: the
    loss of a single selection is up to epsilon times their ratio, which nothing bounds.
    """

    is_private: ClassVar[bool] = False
    sizes: tuple[int, ...]  # the noisy size of each cell, at least 1

    @classmethod
    def of(
        cls,
        candidates: Sequence[Sequence[Candidate]],
        label: str,
        sizes: Sequence[int],
        epsilon: Epsilon,
    ) -> LocalGini:
        among = tuple(map(tuple, candidates))
        return cls(among, label, Gini(), Selection.EXPONENTIAL, epsilon, tuple(sizes))

    def only(self, run: slice) -> Self:
        return replace(super().only(run), sizes=self.sizes[run])

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used("exponential with local sensitivity", (self.epsilon.fraction,))]

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[Split]:
        scores = {name: _indices(counts) for name, counts in tally.columns.items()}
        contests = [
            Contest(np.array([scores[way.column][at] for way in cell]), self._local(size))
            for at, (cell, size) in enumerate(zip(self.candidates, self.sizes, strict=True))
        ]
        chosen = noise.select(contests, self.selection).tolist()
        return [(cell[i].column, None) for cell, i in zip(self.candidates, chosen, strict=True)]

    def _local(self, size: int) -> Fraction:
        return self.epsilon.fraction * (size + 1) ** 2 / (4 * size * _UNITS)


def _indices(counts: IntArray) -> IntArray:
    """The negative Gini index of the split of each cell, in units; 0 for an empty cell."""
    table = counts.astype(float)
    branches = table.sum(axis=2)
    purity = ((table**2).sum(axis=2) / np.maximum(branches, 1)).sum(axis=1)
    sizes = branches.sum(axis=1)
    index = np.where(sizes > 0, purity / np.maximum(sizes, 1) - 1, 0)
    scores: IntArray = np.floor(_UNITS * index).astype(np.int64)
    return scores
