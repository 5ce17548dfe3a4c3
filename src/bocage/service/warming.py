"""Load and compile at the start what the first question would otherwise wait for."""

from __future__ import annotations

from bocage.engine.encode import SMALL
from bocage.private import study
from bocage.schema import Categorical, Numeric, Schema

_SCHEMA = Schema(
    "warm",
    (Categorical("kind", ("a", "b")), Numeric("size", lower=0, upper=7, step=1)),
    label=Categorical("label", ("no", "yes")),
    row_cap=2**20,
)


def warm_up() -> None:
    """Ask every kind of question of made-up rows: a few, and as many as the compiled loops take."""
    for times in (1, SMALL // 4 + 1):
        rows = {"kind": list("abab"), "size": [0, 3, 5, 7], "label": ["no", "yes", "no", "yes"]}
        with study({name: values * times for name, values in rows.items()}, _SCHEMA) as table:
            table.noisy_count(1)
            table.partition("kind").noisy_counts("label", 1)
            table.noisy_sum("size", 1)
            table.noisy_avg("size", 1)
            table.noisy_quantile("size", 1)
            table.noisy_mode("kind", 1)
            table.choose(["kind", "size"], "gini", 1)
