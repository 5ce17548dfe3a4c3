"""A public data set of made-up people: the generator of Agrawal & Srikant (2000), section 5.1.

Nine attributes (table 2) and five functions of them that say who is in group A (table 3). No person
stands behind a record, so the generator is seeded like any simulation: nothing here is noise that
protects somebody. Where the paper is silent: ages, years, salaries and amounts are continuous; zip
code k has the houses of k in 1 to 9.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.schema import Attribute, Categorical, Numeric, Schema

Column = NDArray[np.float64]
Columns = dict[str, Column]
Truth = NDArray[np.bool_]

FUNCTIONS = (1, 2, 3, 4, 5)
ATTRIBUTES = (
    "salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan",
)  # fmt: skip
LABEL = "group"
CHOSEN = {"elevel": range(5), "car": range(1, 21), "zipcode": range(1, 10)}
# Bounds and grid of the others. Every threshold in the functions is an edge of the grid.
_GRIDS = {
    "salary": (20_000, 150_000, 1300),
    "commission": (0, 75_000, 1500),
    "age": (20, 80, 1200),
    "hvalue": (0, 1_350_000, 1350),
    "hyears": (1, 30, 1160),
    "loan": (0, 500_000, 1000),
}
_CELLS_PER_STEP = {"elevel": 250, "car": 60, "zipcode": 125}


def schema(*, categorical: bool = False) -> Schema:
    """The public domain of the data set.

    Parameters
    ----------
    categorical
        Whether education level, car and zip code are categories; otherwise they are numbers on a
        fine grid, as in the paper, so that a little noise can be added to them too.
    """
    return Schema("people", tuple(_attribute(a, categorical) for a in ATTRIBUTES), _label())


def generate(rows: int, function: int, seed: int) -> dict[str, NDArray[np.generic]]:
    """Made-up records, half of them in group A, as columns that fit `schema`.

    Parameters
    ----------
    rows
        How many records.
    function
        1 to 5: which function of table 3 decides on the group.
    seed
        The same seed gives the same records.
    """
    if function not in FUNCTIONS:
        raise PlanError(f"the generator has functions 1 to 5, not {function!r}.")
    if rows < 2:
        raise PlanError(f"two groups need two records at least, not {rows}.")
    rng = np.random.default_rng([seed, function])
    wanted = [rows - rows // 2, rows // 2]  # of the groups A and B
    parts: list[tuple[Columns, Truth]] = []
    while any(wanted):
        drawn = _draw(rng, max(1024, 2 * max(wanted)))
        truth = _TRUTH[function](drawn)
        kept = [np.flatnonzero(truth)[: wanted[0]], np.flatnonzero(~truth)[: wanted[1]]]
        wanted = [want - len(found) for want, found in zip(wanted, kept, strict=True)]
        chosen = np.concatenate(kept)
        parts.append(({name: column[chosen] for name, column in drawn.items()}, truth[chosen]))
    order = rng.permutation(rows)
    people: dict[str, NDArray[np.generic]] = {
        name: np.concatenate([columns[name] for columns, _ in parts])[order] for name in ATTRIBUTES
    }
    for name in CHOSEN:
        people[name] = people[name].astype(np.int64)
    truth = np.concatenate([truth for _, truth in parts])[order]
    people[LABEL] = np.where(truth, "A", "B")
    return people


def _draw(rng: np.random.Generator, rows: int) -> Columns:
    salary = rng.uniform(20_000, 150_000, rows)
    zipcode = rng.integers(1, 10, rows).astype(float)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, rows)),
        "age": rng.uniform(20, 80, rows),
        "elevel": rng.integers(0, 5, rows).astype(float),
        "car": rng.integers(1, 21, rows).astype(float),
        "zipcode": zipcode,
        "hvalue": zipcode * rng.uniform(50_000, 150_000, rows),
        "hyears": rng.uniform(1, 30, rows),
        "loan": rng.uniform(0, 500_000, rows),
    }


def _within(x: Column, low: float, high: float) -> Truth:
    return (low <= x) & (x <= high)


def _first(people: Columns) -> Truth:
    return (people["age"] < 40) | (people["age"] >= 60)


def _second(people: Columns) -> Truth:
    age, salary = people["age"], people["salary"]
    return np.select(
        [age < 40, age < 60],
        [_within(salary, 50_000, 100_000), _within(salary, 75_000, 125_000)],
        _within(salary, 25_000, 75_000),
    )


def _third(people: Columns) -> Truth:
    age, salary, elevel = people["age"], people["salary"], people["elevel"]
    low, middle = _within(salary, 25_000, 75_000), _within(salary, 50_000, 100_000)
    high = _within(salary, 75_000, 125_000)
    young = ((elevel <= 1) & low) | (_within(elevel, 2, 3) & middle)
    adult = (_within(elevel, 1, 3) & middle) | ((elevel == 4) & high)
    old = ((elevel >= 2) & middle) | ((elevel == 1) & low)
    return np.select([age < 40, age < 60], [young, adult], old)


def _disposable(people: Columns) -> Column:
    income = 0.67 * (people["salary"] + people["commission"])
    return income - 0.2 * people["loan"] - 10_000


def _fourth(people: Columns) -> Truth:
    return _disposable(people) > 0


def _fifth(people: Columns) -> Truth:
    equity = 0.1 * people["hvalue"] * np.maximum(people["hyears"] - 20, 0)
    return _disposable(people) + 0.2 * equity > 0


_TRUTH: dict[int, Callable[[Columns], Truth]] = {
    1: _first,
    2: _second,
    3: _third,
    4: _fourth,
    5: _fifth,
}


def _attribute(name: str, categorical: bool) -> Attribute:
    if name not in CHOSEN:
        lower, upper, cells = _GRIDS[name]
        return Numeric(name, lower, upper, cells)  # type: ignore[arg-type] # it makes them exact
    values = CHOSEN[name]
    if categorical:
        return Categorical(name, tuple(map(str, values)))
    cells = (len(values) - 1) * _CELLS_PER_STEP[name]
    return Numeric(name, values[0], values[-1], cells)  # type: ignore[arg-type] # it makes them exact


def _label() -> Categorical:
    return Categorical(LABEL, ("A", "B"))
