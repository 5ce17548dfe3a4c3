"""Exact Bernoulli(exp(-p / q)) on integers, after Canonne, Kamath and Steinke (2020), algorithm 1.

For p <= q: let A_k be independent with probability p / (q k), and K the first k with A_k = 0. Then
P(K odd) = 1 - p/q + (p/q)**2 / 2! - ... = exp(-p / q). For larger p, exp(-p / q) is a product:
one factor exp(-1) for each whole unit of p / q and one for the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms.rng import Randomness

BoolArray = NDArray[np.bool_]

# Standing in for any larger number of units: to tell them apart, a draw would have to succeed so
# many times in a row, one loop each.
_MANY = 1 << 62


def bernoulli_exp(p: NDArray[Any], q: int, source: Randomness) -> BoolArray:
    """Draw True with probability exp(-p[i] / q) for each i, exactly.

    Parameters
    ----------
    p
        Integers >= 0, of any integer type; Python integers (object array) of any size.
    q
        An integer > 0 of any size.
    """
    if p.dtype == object or q > np.iinfo(p.dtype).max:
        p, divisor = p.astype(object), q
    else:
        divisor = p.dtype.type(q)  # else NumPy may take signed and unsigned to floating point
    units = np.minimum(p // divisor, _MANY).astype(np.int64)
    rest = (p % divisor).astype(np.int64 if q <= 1 << 63 else object)
    result = _survives_units(units, source)
    open_ = np.flatnonzero(result & (rest > 0))
    result[open_] = _bernoulli_exp_fraction(rest[open_], q, source)
    return result


def _survives_units(units: NDArray[np.int64], source: Randomness) -> BoolArray:
    """Draw Bernoulli(exp(-1)) `units` times and tell whether all of them were True."""
    result = np.ones(len(units), dtype=np.bool_)
    active = np.flatnonzero(units > 0)
    passed = 0
    while len(active):
        ones = np.ones(len(active), dtype=np.int64)
        success = _bernoulli_exp_fraction(ones, 1, source)
        result[active[~success]] = False
        passed += 1
        active = active[success]
        active = active[units[active] > passed]
    return result


def _bernoulli_exp_fraction(p: NDArray[Any], q: int, source: Randomness) -> BoolArray:
    """Draw Bernoulli(exp(-p / q)) for 0 <= p <= q."""
    result = np.zeros(len(p), dtype=np.bool_)
    active = np.arange(len(p))
    k = 0
    while len(active):
        k += 1
        # A_k is drawn as the product of Bernoulli(p / q) and Bernoulli(1 / k): no product q k that
        # could overflow.
        event = np.ones(len(active), dtype=np.bool_)
        if q > 1:
            event = source.below(q, len(active)) < p[active]
        if k > 1:
            maybe = np.flatnonzero(event)
            event[maybe] = source.below(k, len(maybe)) == 0
        result[active[~event]] = k % 2 == 1
        active = active[event]
    return result
