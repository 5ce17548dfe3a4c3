"""The compiled loops on tables large enough for several threads, blocks and strips."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bocage.engine.codes import counting
from bocage.engine.codes.codes import Codes
from bocage.plan import OUTSIDE, Branch, Cells, Cut, Question, bind, col
from bocage.schema import Categorical, Numeric, Schema

ROWS = 100_000
SIZES = {"a": 2, "b": 5, "c": 40, "y": 3}
SCHEMA = Schema(
    "t",
    (
        *(Categorical(n, tuple(map(str, range(SIZES[n])))) for n in "abc"),
        Numeric("x", Fraction(0), Fraction(999), step=Fraction(1)),
        Numeric("z", Fraction(0), Fraction(1), cells=2**16),
    ),
    Categorical("y", ("0", "1", "2")),
)


@pytest.fixture(scope="module")
def codes() -> Codes:
    random = np.random.default_rng(3)
    narrow = np.stack([random.integers(0, s, ROWS, dtype=np.uint8) for s in SIZES.values()])
    wide = np.stack([random.integers(0, s, ROWS, dtype=np.uint16) for s in (1000, 2**16)])
    return Codes(narrow, wide, {n: i for i, n in enumerate([*SIZES, "x", "z"])}, ROWS)


def ensemble() -> list[Question]:
    """Questions of every kind: masks and walks, filters, sums, pairs, many cells, no label."""
    few = Cells((Cut("x", 500, 1, ~0), Branch("b", (~1, ~2, ~1, OUTSIDE, ~3))), 4)
    many = Cells((Branch("x", tuple(~code for code in range(1000))),), 1000)
    deep = Cells()
    for threshold in range(15, 1000, 15):  # 67 cells: more than there are bits for paths
        deep = deep.refine({deep.count - 1: Cut("x", threshold, 0, 1)})
    where = (col("x") > 10) & ((col("a") == "1") | ~col("c").is_in("1", "2", "39"))
    text = bind(where, SCHEMA)
    return [
        Question(),
        Question(few, label="y", columns=("a", "b", "c", "x")),
        Question(few, text, "y", ("a", "c"), ("x", "z")),
        Question(many, text, None, ("b",), ("z",)),
        Question(deep, label="x", sums=("x",)),
        Question(deep.refine({3: Branch("a", (0, OUTSIDE))}), columns=("y", "b", "z")),
        Question(few, bind(col("z").between(0.25, 0.5) | (col("z") < 0.001), SCHEMA), "y", ("a",)),
    ]


def assert_same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one.totals, other.totals)
        for name, counts in other.columns.items():
            np.testing.assert_array_equal(one.columns[name], counts)
        for name, sums in other.sums.items():
            np.testing.assert_array_equal(one.sums[name], sums)


def test_compiled_loops_equal_numpy(codes):
    questions = ensemble()
    assert_same(counting.count(codes, questions, SCHEMA), counting.count_small(codes, questions, SCHEMA))


def test_threads_that_share_large_counters_equal_numpy(codes, monkeypatch):
    monkeypatch.setattr(counting, "MOST_PRIVATE", 0)
    questions = ensemble()
    assert_same(counting.count(codes, questions, SCHEMA), counting.count_small(codes, questions, SCHEMA))


def test_a_single_thread_gives_the_same_numbers(codes, monkeypatch):
    many = counting.count(codes, ensemble(), SCHEMA)
    monkeypatch.setattr(counting, "workers", lambda: 1)
    assert_same(counting.count(codes, ensemble(), SCHEMA), many)


def test_100_000_cells_are_counted(codes):
    deep = Cells((Branch("x", tuple(1 + code for code in range(1000))),
                  *(Branch("c", tuple(~(40 * code + c) for c in range(40))) for code in range(1000)),
                  ), 40_000)  # fmt: skip
    wider = deep.refine({cell: Branch("b", (0, 1, 2, 3, 4)) for cell in range(0, 40_000, 2)})
    assert wider.count > 100_000
    question = Question(wider, label="y", columns=("a", "b"))
    [tally] = counting.count(codes, [question], SCHEMA)
    assert tally.totals.sum() == ROWS
    assert_same([tally], counting.count_small(codes, [question], SCHEMA))
