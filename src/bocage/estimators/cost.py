"""What fitting again costs: an estimator and its copies keep count together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from bocage.epsilon import Epsilon


class TuningCost(UserWarning):
    """An estimator, or copies of it, are fitted more than once, as tuning does."""


@dataclass
class Lineage:
    """An estimator and all copies that `sklearn.clone` made of it, directly or not.

    Copies are counted besides fits because some are sent to other processes and fitted there.
    """

    copies: int = 0
    fits: int = 0
    warned: bool = False

    def count_fit(self, epsilon: Epsilon) -> None:
        """Count a fit; say once what more of them cost."""
        self.fits += 1
        if self.warned or max(self.copies, self.fits) < 2:
            return
        self.warned = True
        warnings.warn(
            "this estimator, or copies of it as cross-validation and grid search make them, are "
            f"fitted more than once. Each fit on the same records costs epsilon={epsilon} again, "
            "and a score computed on records is exact: it has no privacy. Tune on public or "
            "made-up records, then fit once.",
            TuningCost,
            stacklevel=3,
        )
