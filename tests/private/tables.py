"""Small tables to be counted by hand."""

from __future__ import annotations

from bocage.accounting import MemoryAccount
from bocage.engine.reference import ReferenceEngine
from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentNoise

PEOPLE = Schema(
    "people",
    (
        Categorical("sex", ("F", "M")),
        Categorical("city", ("Paris", "Lyon", "Nice")),
        Numeric("age", lower=0, upper=9, step=1),  # grid points 0, 1, ... 9
        Numeric("income", lower=0, upper=100, cells=4),  # middles 12.5, 37.5, 62.5, 87.5
    ),
    label=Categorical("buys", ("yes", "no")),
    row_cap=64,
)
#           F, F, F, M, M, M, M, F
ROWS = {
    "sex": ["F", "F", "F", "M", "M", "M", "M", "F"],
    "city": ["Paris", "Paris", "Lyon", "Lyon", "Lyon", "Nice", "Nice", "Nice"],
    "age": [3, 5, 5, 7, 9, 0, 2, 4],
    "income": [10, 30, 60, 80, 100, 0, 25, 99],
    "buys": ["yes", "yes", "no", "no", "no", "yes", "yes", "no"],
}
EMPTY = {name: [] for name in ROWS}

# Quinlan's weather table (Machine Learning 1986; Mitchell 1997, table 3.2).
TENNIS = Schema(
    "tennis",
    (
        Categorical("temperature", ("hot", "mild", "cool")),
        Categorical("outlook", ("sunny", "overcast", "rain")),
        Categorical("humidity", ("high", "normal")),
        Categorical("wind", ("weak", "strong")),
    ),
    label=Categorical("play", ("no", "yes")),
    row_cap=100,
)
_WEATHER = """sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no"""
_FIELDS = list(zip(*[line.split() for line in _WEATHER.splitlines()], strict=True))
WEATHER = dict(zip(("outlook", "temperature", "humidity", "wind", "play"), map(list, _FIELDS), strict=True))


def table(
    rows=ROWS,
    schema=PEOPLE,
    *,
    noise=None,
    adjacency=Adjacency.ADD_REMOVE,
    cap="1000000",
    engine=None,
    account=None,
):
    """A private table over the reference engine, without a ledger file."""
    executor = LiveExecutor(Terms(schema, adjacency), engine or ReferenceEngine(rows, schema), noise or SilentNoise())
    return PrivateTable(executor, account or MemoryAccount.of(Epsilon.of(cap)), WHOLE)
