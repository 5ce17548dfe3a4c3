"""What a fit needs of its sizes so that its proof covers it: checked before a row is read.

Weights of a walk are sums in floating point, and off by more the more rows there are. By how much they can be off at
most is added to the total that the proposal claims (see :mod:`bocage.mechanisms.selection.rejection_sampling`), so that
the claim is an upper bound for every table; and where that would be so much that a draw takes too many rounds, it is
refused before the charge."""

from __future__ import annotations

from bocage.errors import PlanError
from bocage.private.query import Place
from bocage.schema import Schema

MOST_ROWS = 2**31  # that a fit can number; what is assumed without a lower row cap
MOST_OFF = 4.0  # logarithm of the rounds that a draw may take for it, on average
PRIOR = 2**10  # what logarithms of priors are smaller than
MOST_CELLS = 2**8  # of a column whose cells are numbers of 8 bits
MOST_LABELS = 2**10


def rows_at_most(schema: Schema) -> int:
    """The most rows that a fit can meet. Public."""
    return MOST_ROWS if schema.row_cap is None else min(schema.row_cap, MOST_ROWS)


def check_off(off: float, what: str) -> None:
    """Refuse a draw whose sums could be off by more than its total can cover."""
    if not off <= MOST_OFF:
        raise PlanError(
            f"{what}: sums over so many choices and rows are not exact enough to be drawn by. Declare a "
            "lower row_cap in the schema, offer fewer ways to split, or lower epsilon."
        )


def check_whole(place: Place, what: str) -> None:
    """Refuse a part of a table where all rows would be read."""
    if place.cells.nodes:
        raise PlanError(f"{what}: for a whole table, before it is split.")


def check_labels(labels: int, what: str, least: int = 2) -> None:
    """Refuse what has nothing to tell apart, or too much to hold."""
    if not least <= labels <= MOST_LABELS:
        raise PlanError(f"{what}: for {least} to {MOST_LABELS} labels, not {labels}.")
