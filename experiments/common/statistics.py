"""Tests and errors that the reports use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Difference:
    """A mean difference of pairs, its standard error and the two-sided p-value."""

    mean: float
    error: float
    p: float

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.error:.2f}, p = {self.p:.2g}"


def paired(first: np.ndarray, second: np.ndarray, test_share: float = 0.0) -> Difference:
    """A paired t-test, corrected for training sets that overlap.

    Nadeau & Bengio (2003): in cross-validation the differences of the folds are not independent, and
    their variance is multiplied by 1/J + n_test/n_train instead of 1/J.

    Parameters
    ----------
    test_share
        n_test/n_train, which is 1/9 with ten folds; 0 for runs that are independent.
    """
    runs = min(len(first), len(second))
    gaps = first[:runs] - second[:runs]
    error = float(np.sqrt((1 / runs + test_share) * gaps.var(ddof=1)))
    mean = float(gaps.mean())
    if error == 0:
        return Difference(mean, error, 1.0 if mean == 0 else 0.0)
    return Difference(mean, error, float(2 * stats.t.sf(abs(mean) / error, runs - 1)))
