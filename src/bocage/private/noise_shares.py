"""How tables share a noise budget: which of them have their noise together, and what kind of noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bocage.mechanisms import Body, ConsistentTables, Tables, deviations

MOST_FREE = 256  # cells of tables that agree: the weights of more are large numbers to compute with
LARGEST = 32  # cells of a table; with more there is little to gain from sums that agree
_SIMILAR = Fraction(3, 2)  # tables whose sizes differ by no more share their noise
_INTERCEPT = Fraction(3, 10)  # of a table's share of the noise budget: the prior does its work

Shared = list[tuple[list[int], Body]]  # places of tables, and the noise that they have together


def groups_of(sizes: Sequence[int]) -> list[list[int]]:
    """The places of tables of similar size, smallest first; where these are many in several groups."""
    groups: list[list[int]] = []
    for i in sorted(range(len(sizes)), key=lambda i: sizes[i]):
        own = groups[-1] if groups else []
        full = (len(own) + 1) * sizes[i] > MOST_FREE
        if own and sizes[i] <= _SIMILAR * sizes[own[0]] and not full:
            own.append(i)
        else:
            groups.append([i])
    return groups


def least_noise(sizes: Sequence[int], columns: int, rate: Fraction) -> Shared:
    """The least noisy way to draw noise for an intercept, the first of the sizes, and tables.

    The intercept is the sum of the tables of the largest group, and comes with their noise; or it has a
    small share of the rate, and tables whose sums nobody needs have one dimension less.
    """
    groups = [[i + 1 for i in group] for group in groups_of(sizes[1:])]
    count = len(sizes) - 1
    most = max(groups, key=len)

    def part(group: list[int], rate: Fraction) -> tuple[list[int], Body]:
        own, share = tuple(sizes[i] for i in group), rate * len(group) / count
        bodies: list[Body] = [Tables(share, own, columns)]
        if max(own) <= LARGEST:
            bodies.append(ConsistentTables(share, own, columns))
        return group, min(bodies, key=lambda body: sum(deviations(body)))

    alone = intercept(count, columns, rate)
    apart: Shared = [([0], alone)]
    apart += [part(group, rate - alone.rate) for group in groups]
    if max(sizes[i] for i in most) > LARGEST:
        return apart
    body = ConsistentTables(rate * len(most) / count, (1, *(sizes[i] for i in most)), columns)
    together: Shared = [([0, *most], body)]
    together += [part(group, rate) for group in groups if group is not most]
    return min((together, apart), key=_noise)


def intercept(count: int, columns: int, rate: Fraction) -> Tables:
    """The noise of an intercept with a rate of its own, beside so many tables."""
    return Tables(rate * _INTERCEPT / (count + _INTERCEPT), (1,), columns)


def _noise(shared: Shared) -> float:
    """Of all tables; that of the intercept counts for nothing."""
    return sum(deviation for group, body in shared for i, deviation in zip(group, deviations(body), strict=True) if i)
