"""Noise that is added to a number: uniform and Gaussian as in the paper, and Laplace.

Uniform and Gaussian noise protect by an interval only. Laplace noise is differentially private.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from math import ceil, log
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import SurveyError
from bocage.local.distortion import Distortion, PureDistortion, numeric, span, steps_of
from bocage.local.kernel import Edges, Kernel, additive_kernel
from bocage.local.privacy import (
    CONFIDENCES,
    DELTA,
    Privacy,
    approximate_words,
    epsilon_words,
    figure,
    interval_words,
)
from bocage.mechanisms import IntArray
from bocage.mechanisms.local_loss import approximate_epsilon, laplace_ratio, loss
from bocage.mechanisms.local_tables import (
    LARGEST_EPSILON,
    MOST_STEPS,
    LocalTable,
    gaussian_table,
    laplace_table,
    uniform_table,
)
from bocage.schema import Attribute, Numeric

_UNIT = Decimal("1e-9")


class Additive(Distortion):
    """A number plus symmetric noise, clamped to the range and a margin on both sides."""

    def check(self, attribute: Attribute) -> None:
        numeric(attribute, self.kind)
        if self.margin(attribute) + attribute.cells > MOST_STEPS:
            raise SurveyError(
                f"{attribute.name!r}: this noise would reach more than {MOST_STEPS} grid steps. "
                "Declare a coarser grid, or ask for less noise."
            )

    def margin(self, attribute: Attribute) -> int:
        raise NotImplementedError

    def width(self, attribute: Numeric, confidence: float) -> float:
        """Width of the interval at a confidence, in grid steps."""
        raise NotImplementedError

    def outputs(self, attribute: Attribute) -> range:
        margin = self.margin(attribute)
        return range(-margin, attribute.cells + margin)

    def apply(self, attribute: Attribute, codes: IntArray, drawn: IntArray | None) -> IntArray:
        sent = self.outputs(attribute)
        noise = np.int64(0) if drawn is None else drawn
        return np.asarray(np.clip(codes + noise, sent.start, sent.stop - 1), dtype=np.int64)

    def kernel_between(self, attribute: Attribute, true: Edges, sent: Edges) -> Kernel:
        table = self.table(attribute)
        if table is None:
            raise SurveyError(f"{self.kind} noise has no table.")
        return additive_kernel(table, true, sent, self.outputs(attribute))

    def _widths(self, attribute: Numeric) -> tuple[tuple[float, float, float], float]:
        half, most, nearly = (self.width(attribute, c) for c in CONFIDENCES)
        step = float(attribute.width)
        return (half * step, most * step, nearly * step), 100 * most / span(attribute)


@dataclass(frozen=True)
class Uniform(Additive):
    """Noise uniform on -alpha .. alpha grid steps.

    Privacy
    -------
    No differential privacy: its support is bounded, so a number sent near an end of its range
    tells the true value.
    """

    kind: ClassVar[str] = "uniform"
    alpha: int

    def __post_init__(self) -> None:
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, int):
            raise SurveyError("the alpha of uniform noise is a whole number of grid steps.")
        if not 1 <= self.alpha <= MOST_STEPS:
            raise SurveyError(f"the alpha of uniform noise must be 1 to {MOST_STEPS} grid steps, not {self.alpha:.6g}.")

    @classmethod
    def of_privacy(cls, attribute: Attribute, percent: float, confidence: float = 0.95) -> Self:
        """As much noise as gives `percent` privacy of the range at this confidence."""
        width = steps_of(attribute, percent, confidence, cls.kind)
        return cls(max(1, ceil(width / (2 * confidence) - 1e-9)))

    def margin(self, attribute: Attribute) -> int:  # noqa: ARG002 - one signature for all noise
        return self.alpha

    def width(self, attribute: Numeric, confidence: float) -> float:  # noqa: ARG002 - likewise
        return 2 * self.alpha * confidence

    def table(self, attribute: Attribute) -> LocalTable:  # noqa: ARG002 - likewise
        return uniform_table(self.alpha)

    def privacy(self, attribute: Attribute) -> Privacy:
        column = numeric(attribute, self.kind)
        widths, percent = self._widths(column)
        words = (
            f"{column.name}: a random number between -{figure(self.alpha * float(column.width))} "
            f"and {figure(self.alpha * float(column.width))} is added. "
            f"{interval_words(widths, percent)} No local differential privacy: a number sent near "
            "an end of its range gives the true value away."
        )
        return Privacy(column.name, self.kind, widths, percent, None, words)


@dataclass(frozen=True)
class Gaussian(Additive):
    """Discrete Gaussian noise; `sigma` in grid steps, with at most nine decimals.

    The sum is clamped five sigma beyond the range, which one answer in a million notices.

    Privacy
    -------
    No pure differential privacy. `privacy` states the epsilon that holds with delta = 0.00001,
    computed from the table that is drawn from.
    """

    kind: ClassVar[str] = "gaussian"
    sigma: Decimal

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", decimal_of(self.sigma, "sigma", self.kind))
        if not Decimal("0.3") <= self.sigma <= MOST_STEPS // 8:
            raise SurveyError(
                f"the sigma of Gaussian noise must be 0.3 to {MOST_STEPS // 8} grid steps, not "
                f"{self.sigma}. Declare a finer or a coarser grid, or ask for other noise."
            )

    @classmethod
    def of_privacy(cls, attribute: Attribute, percent: float, confidence: float = 0.95) -> Self:
        """As much noise as gives `percent` privacy of the range at this confidence."""
        width = steps_of(attribute, percent, confidence, cls.kind)
        sigma = Decimal(width / _normal_width(confidence))
        return cls(sigma.quantize(Decimal("1e-6"), rounding=ROUND_CEILING))

    def margin(self, attribute: Attribute) -> int:  # noqa: ARG002 - one signature for all noise
        return ceil(5 * self.sigma)

    def width(self, attribute: Numeric, confidence: float) -> float:  # noqa: ARG002 - likewise
        return _normal_width(confidence) * float(self.sigma)

    def table(self, attribute: Attribute) -> LocalTable:
        return gaussian_table(Fraction(self.sigma), attribute.cells - 1 + self.margin(attribute))

    def privacy(self, attribute: Attribute) -> Privacy:
        column = numeric(attribute, self.kind)
        widths, percent = self._widths(column)
        approximate = approximate_epsilon(self.table(column), column.cells - 1, Fraction(DELTA))
        if approximate is not None and approximate > LARGEST_EPSILON:
            approximate = None
        words = (
            f"{column.name}: a random number with standard deviation "
            f"{figure(float(self.sigma) * float(column.width))} is added. "
            f"{interval_words(widths, percent)} {approximate_words(approximate)}"
        )
        return Privacy(column.name, self.kind, widths, percent, None, words, approximate=approximate)


@dataclass(frozen=True)
class Laplace(PureDistortion, Additive):
    """Discrete Laplace noise of scale (cells - 1) / epsilon grid steps, clamped to the range.

    Clamping loses nothing: all numbers beyond an end have the same likelihoods as the end.

    Parameters
    ----------
    epsilon
        Above 0 and at most 64; a number or a text is read as one.

    Privacy
    -------
    `epsilon`-differentially private in the local model, exactly; see `laplace_table`.
    """

    kind: ClassVar[str] = "laplace"

    @classmethod
    def of_privacy(cls, attribute: Attribute, percent: float, confidence: float = 0.95) -> Self:
        """As much noise as gives `percent` privacy of the range at this confidence."""
        width = steps_of(attribute, percent, confidence, cls.kind)
        scale = width / (-2 * log(1 - confidence))
        epsilon = Decimal((attribute.cells - 1) / scale).quantize(_UNIT, rounding=ROUND_FLOOR)
        if epsilon > LARGEST_EPSILON:
            raise SurveyError(
                f"{attribute.name!r}: {percent:g} % privacy would be Laplace noise of epsilon = "
                f"{float(epsilon):.3g}, above {LARGEST_EPSILON}: no protection. Ask for more."
            )
        return cls(Epsilon.of(epsilon))

    def margin(self, attribute: Attribute) -> int:  # noqa: ARG002 - one signature for all noise
        return 0

    def width(self, attribute: Numeric, confidence: float) -> float:
        scale = (attribute.cells - 1) / float(self.epsilon)
        return -2 * scale * log(1 - confidence)

    def table(self, attribute: Attribute) -> LocalTable:
        return laplace_table(self.epsilon.fraction, attribute.cells - 1)

    def privacy(self, attribute: Attribute) -> Privacy:
        column = numeric(attribute, self.kind)
        widths, percent = self._widths(column)
        exact = loss(laplace_ratio(self.table(column), column.cells - 1))
        scale = (column.cells - 1) / float(self.epsilon) * float(column.width)
        words = (
            f"{column.name}: a random number of mean size {figure(scale)} is added. "
            f"{interval_words(widths, percent)} {epsilon_words(self.epsilon)}"
        )
        return Privacy(column.name, self.kind, widths, percent, self.epsilon, words, exact)


def decimal_of(value: Any, name: str, kind: str) -> Decimal:
    """A positive number with at most nine decimals."""
    text = str(value)
    try:
        number = Decimal(text) if len(text) <= 40 and not isinstance(value, bool) else Decimal("nan")
    except ArithmeticError:
        number = Decimal("nan")
    if not number.is_finite() or not 0 < number <= 10**9 or number % _UNIT:
        raise SurveyError(f"the {name} of {kind} noise is a number above 0 with at most nine decimals, not {text:.40}.")
    return Decimal(f"{number.normalize():f}")


def _normal_width(confidence: float) -> float:
    """Width of the middle of a standard normal distribution: 1.349, 3.92 and 6.58 in Table 1.

    The paper prints 6.8 for 99.9 %; the quantile is 3.2905, so the width is 6.581.
    """
    return 2 * NormalDist().inv_cdf((1 + confidence) / 2)
