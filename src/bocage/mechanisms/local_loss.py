"""What a local table reveals, from its own counts, rounding included. No draws here."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from bocage.mechanisms.local_tables import WHOLE, LocalTable

_DIGITS = 60
_SHOWN = Decimal("1e-30")


def laplace_ratio(table: LocalTable, steps: int) -> Fraction:
    """The largest ratio P(y | x) / P(y | x') of noise on 0 .. `steps`, clamped to this range.

    At an end y collects a tail, and the ratio is that of the longest to the shortest. Between the
    ends y = 1 meets every noise of 1 - `steps` .. 1, and by symmetry all that there is.
    """
    counts = table.counts  # of -steps .. steps
    tail = sum(counts[: steps + 1])
    worst = Fraction(tail, counts[0])
    inner = counts[1:-1]
    if steps > 1:
        worst = max(worst, Fraction(max(inner), min(inner)))
    return worst


def response_ratio(table: LocalTable) -> Fraction:
    """The ratio of telling the truth to telling any one lie."""
    truth, *lies = table.counts
    return Fraction(max(truth, *lies), min(truth, *lies))


def loss(ratio: Fraction) -> Decimal:
    """The epsilon of a ratio, its logarithm, rounded up at the thirtieth decimal."""
    with localcontext(prec=_DIGITS):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return exact.quantize(_SHOWN, rounding=ROUND_CEILING)


def approximate_epsilon(table: LocalTable, steps: int, delta: Fraction) -> Decimal | None:
    """The smallest epsilon for which noise on 0 .. `steps` is (epsilon, delta)-private, if any.

    The likelihood ratio of log-concave noise grows with the answer, so the worst event is a tail,
    and the worst pair are the two ends: epsilon = max over t of
    ln((P(noise >= t) - delta) / P(noise >= t + steps)). None if some tail above delta has no
    counterpart: then a person is found out with a probability above delta, whatever epsilon is.
    """
    spare = int(delta * WHOLE)
    tails = [0] * (steps + 1)  # of noise beyond the table, downwards
    for count in reversed(table.counts):
        tails.append(tails[-1] + count)
    tails += [WHOLE] * steps
    worst = Fraction(1)
    for far, near in zip(tails, tails[steps:], strict=False):
        if near > spare:
            if not far:
                return None
            if (near - spare) * worst.denominator > far * worst.numerator:
                worst = Fraction(near - spare, far)
    return loss(worst)
