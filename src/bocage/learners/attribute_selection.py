"""Which attributes get a table where there are too few records for all."""

from __future__ import annotations

from collections.abc import Mapping

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.private import Candidate, Choose, OpenCells, Selection, criterion_named
from bocage.schema import Categorical, Schema

SHARES = (30, 70)  # per cent of epsilon: the choice, and what is left for the tables
MOST = 0.7  # share of the attributes from which on the choice costs more than it brings
THRESHOLDS = 64  # of a numeric attribute that are looked at


def select(
    cells: OpenCells, numbers: Mapping[str, float], support: float, epsilon: Epsilon
) -> tuple[tuple[str, ...], Epsilon]:
    """The attributes whose tables are worth their noise, and what is left of epsilon.

    Tables share epsilon: those of attributes that say nothing make all others noisier. As many
    attributes are taken as there is support for, one after another: each time the one that alone
    leaves the fewest errors, as far as the noise tells.

    Parameters
    ----------
    numbers
        How many numbers the table of an attribute has.
    support
        How many numbers all tables together may have, if they got all of epsilon.

    Privacy
    -------
    How many attributes are taken is arithmetic on numbers that are declared or released. Each choice
    is permute-and-flip over the rows that a split labels right, which one more record raises by 0 or 1
    for every split (monotone, range 1), and so costs its share of epsilon. Sequential composition.
    """
    average = sum(numbers.values()) / len(numbers)
    room = max(int(support * SHARES[1] / sum(SHARES) / average), 1)
    left = [name for name in numbers if cells.schema[name].cells > 1]
    if room >= MOST * len(numbers) or room >= len(left):
        return tuple(numbers), epsilon
    choice, rest = epsilon.split(SHARES)
    taken = []
    for share in choice.split([1] * room):
        among = tuple(_splits(cells.schema, name) for name in left)
        rule = criterion_named("max"), Selection.PERMUTE_AND_FLIP
        ((name, _),) = cells.ask(Choose((among,), label_of(cells.schema).name, *rule, share))
        left.remove(name)
        taken.append(name)
    return tuple(name for name in numbers if name in taken), rest


def _splits(schema: Schema, name: str) -> Candidate:
    column = schema[name]
    if isinstance(column, Categorical):
        return Candidate(name)
    step = -(-column.cells // THRESHOLDS)
    return Candidate(name, step, column.cells - 1, step=step)
