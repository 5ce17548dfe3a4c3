"""Load and compile at the start what the first question would otherwise wait for."""

from __future__ import annotations

import gc
from fractions import Fraction

from bocage.engine.codes.encode import SMALL
from bocage.private import study
from bocage.schema import Categorical, Numeric, Schema

_SCHEMA = Schema(
    "warm",
    (
        Categorical("kind", ("a", "b")),
        Numeric("size", lower=Fraction(0), upper=Fraction(7), step=Fraction(1)),
    ),
    label=Categorical("label", ("no", "yes")),
    row_cap=2**20,
)


def warm_up() -> None:
    """Ask every kind of question of made-up rows: a few, and as many as the compiled loops take."""
    for times in (1, SMALL // 2 + 1):
        kinds, labels, sizes = ["a", "b"] * times, ["no", "yes"] * times, [0, 7] * times
        with study({"kind": kinds, "size": sizes, "label": labels}, _SCHEMA) as table:
            table.noisy_count(1)
            table.partition("kind").noisy_counts("label", 1)
            table.noisy_sum("size", 1)
            table.noisy_avg("size", 1)
            table.noisy_quantile("size", 1)
            table.noisy_mode("kind", 1)
            table.choose(["kind", "size"], "gini", 1)
    # What is loaded now stays: looking through it for garbage would hold up all questions.
    gc.collect()
    gc.freeze()
