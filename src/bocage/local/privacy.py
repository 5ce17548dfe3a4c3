"""What a distortion protects, said three ways, and in words that a participant can read.

The three ways are the paper's width of an interval at a confidence (Agrawal and Srikant 2000,
Table 1), that width as a percentage of the range, and the epsilon of local differential privacy,
which only Laplace noise and randomized response have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from math import exp

from bocage.epsilon import Epsilon

CONFIDENCES = (0.5, 0.95, 0.999)
DELTA = Decimal("0.00001")


@dataclass(frozen=True)
class Privacy:
    """What is protected of one answer, or of a whole record.

    Attributes
    ----------
    name
        The attribute, or the survey for a whole record.
    kind
        The distortion: ``clear``, ``class``, ``uniform``, ``gaussian``, ``laplace``, ``response``,
        or ``record``.
    widths
        Widths of the interval in which the true value lies at 50, 95 and 99.9 % confidence, in the
        unit of the attribute, judged by the noise alone. None where there are no intervals.
    percent
        The width at 95 % as a percentage of the range.
    epsilon
        The epsilon of local differential privacy, or None: there is none.
    loss
        The exact privacy loss of the integer table that is drawn from, rounded up at the thirtieth
        decimal. Never above `epsilon`.
    approximate
        For Gaussian noise, the epsilon that holds together with delta = 0.00001, if one does.
    words
        The same in words.
    """

    name: str
    kind: str
    widths: tuple[float, float, float] | None
    percent: float | None
    epsilon: Epsilon | None
    words: str
    loss: Decimal | None = None
    approximate: Decimal | None = None


def of_record(name: str, answers: Iterable[Privacy]) -> Privacy:
    """What a whole record is worth: the epsilons of its answers add up, if all of them have one."""
    answers = tuple(answers)
    bare = [answer.name for answer in answers if answer.epsilon is None]
    amounts = [answer.epsilon for answer in answers if answer.epsilon is not None]
    losses = [answer.loss for answer in answers if answer.loss is not None]
    if bare:
        epsilon, loss = None, None
        words = f"The record as a whole: no local differential privacy, because there is none for {', '.join(bare)}."
        if amounts:
            words += f" The other answers together: epsilon = {Epsilon.total(amounts)}."
    else:
        epsilon, loss = Epsilon.total(amounts), sum(losses, Decimal(0))
        words = f"The record as a whole: epsilon = {epsilon} of local differential privacy, the sum over its answers."
    return Privacy(name, "record", None, None, epsilon, words, loss)


def interval_words(widths: tuple[float, float, float], percent: float) -> str:
    return (
        f"By the noise alone the true value is known at 95 % confidence to an interval of width "
        f"{figure(widths[1])}, which is {figure(percent)} % of the range."
    )


def epsilon_words(epsilon: Epsilon) -> str:
    return (
        f"Local differential privacy with epsilon = {epsilon}: whatever is sent, no true value "
        f"makes it more than {figure(exp(float(epsilon)))} times as likely as another does."
    )


def approximate_words(approximate: Decimal | None) -> str:
    if approximate is None:
        return "No local differential privacy."
    return (
        f"No pure local differential privacy; epsilon = {figure(float(approximate))} except with probability {DELTA}."
    )


def figure(x: float, digits: int = 3) -> str:
    """A number with a few significant digits, written without exponent."""
    # Halves go up, as in JavaScript: both sides say the same words.
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal_from_float(x)
    return f"{rounded.normalize():f}"
