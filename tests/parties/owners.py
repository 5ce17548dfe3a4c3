"""Three hospitals that may not pool their rows, and what they need to work together."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from bocage.accounting import LedgerAccount, open_ledger
from bocage.engine.sources import open_engine
from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency
from bocage.parties import Contribution, Signer, plan_columns, plan_rows
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentNoise

PATIENTS = Schema(
    "patients",
    (
        Categorical("smokes", ("no", "yes")),
        Categorical("home", ("town", "village", "hut")),
        Numeric("age", lower=0, upper=100, step=1),
    ),
    label=Categorical("ill", ("no", "yes")),
    row_cap=1000,
)
NAMES = ("north", "south", "west")


def rows(start: int = 0, count: int = 90) -> dict[str, list[object]]:
    """Ill are the smokers from 50 on."""
    numbers = range(start, start + count)
    ages = [7 * i % 101 for i in numbers]
    smokes = ["yes" if i % 3 == 0 else "no" for i in numbers]
    return {
        "smokes": smokes,
        "home": [["town", "village", "hut"][i % 3 % 2] for i in numbers],
        "age": ages,
        "ill": ["yes" if a >= 50 and s == "yes" else "no" for a, s in zip(ages, smokes, strict=True)],
    }


@contextmanager
def opened(source, schema, ledger, *, noise=None, adjacency=Adjacency.ADD_REMOVE, budget="2"):
    """A table behind the layer with a real ledger, and noise of our choice: silent by default."""
    engine = open_engine(source, schema)
    book = open_ledger(ledger, create=True)
    scope = book.analyst(book.table(schema.name, Epsilon.of(2)), "parties", Epsilon.of(budget))
    executor = LiveExecutor(Terms(schema, adjacency), engine, noise or SilentNoise())
    try:
        yield PrivateTable(executor, LedgerAccount(book, scope), WHOLE)
    finally:
        engine.close()
        book.close()


def row_plan(**changes):
    return plan_rows(PATIENTS, **{"epsilon": "0.5", "trees": 3, "height": 2, **changes})


def column_plan(**changes):
    parties = {"clinic": ["smokes", "age"], "town": ["home"]}
    return plan_columns(PATIENTS, **{"epsilon": 1, "parties": parties, "trees": 2, "height": 2, **changes})


def made(plan, party="north", signer=None, value=5, entry=2):
    """A contribution of equal counts, without a table."""
    share = plan.share_of(party)
    counts = [np.full((leaves, 2), value, np.int64) for leaves in share.leaves]
    return Contribution.signed(plan, party, counts, signer or Signer.new(), entry)
