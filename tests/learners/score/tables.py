"""Schemas, blocks and tables that scores are tried on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bocage.private import Block
from bocage.schema import Categorical, Numeric, Schema

LABELS = ("low", "middle", "high")
SCHEMA = Schema(
    "t",
    (
        Categorical("a", ("x", "y")),
        Categorical("b", ("p", "q", "r")),
        Numeric("n", 0, 100, 100),
        Numeric("m", 0, 8, 8),
    ),
    Categorical("label", LABELS),
)
CARD_SCHEMA = Schema("t", SCHEMA.attributes[:3], Categorical("label", ("no", "maybe", "yes")))
BLOCKS = (
    Block(("a",), (2,), (2,)),
    Block(("b",), (3,), (3,)),
    Block(("n",), (4,), (4,), ((5, 10, 50),)),
    Block(("m",), (4,), (4,)),
)
CARD_BLOCKS = BLOCKS[:3]
NAMES = tuple(column.name for column in SCHEMA.attributes)
BOARD = Schema(
    "board",
    tuple(Categorical(f"s{i}", ("x", "o", "b")) for i in range(5)),
    Categorical("won", ("no", "yes")),
)
GRADES = Schema(
    "grades",
    tuple(Categorical(f"g{i}", ("bad", "fair", "good", "best")) for i in range(5)),
    Categorical("verdict", LABELS),
)


def boards(rows, seed=1):
    """Signs on five squares; x has won if there are more of them than of o."""
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 3, (rows, 5))
    won = (signs == 0).sum(axis=1) > (signs == 1).sum(axis=1)
    columns = {f"s{i}": pa.array(np.array(["x", "o", "b"])[signs[:, i]]) for i in range(5)}
    return pa.table(columns | {"won": pa.array(np.where(won, "yes", "no"))})


def grades(rows, seed=1):
    """Three marks of which the first counts twice: their sum says one of three things, another one spoils it."""
    rng = np.random.default_rng(seed)
    marks = rng.integers(0, 4, (rows, 5))
    points = 2 * marks[:, 0] + marks[:, 1]
    verdict = np.where(marks[:, 2] == 0, 0, np.searchsorted([3, 7], points, "right"))
    values = np.array(GRADES.attributes[0].values)
    columns = {f"g{i}": pa.array(values[marks[:, i]]) for i in range(5)}
    return pa.table(columns | {"verdict": pa.array(np.array(LABELS)[verdict])})
