import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.engine.derived_counts import DerivedCounts, descent_of
from bocage.engine.reference import ReferenceEngine
from bocage.plan import OUTSIDE, Branch, Cells, Cut, Question, predicate
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "people",
    (
        Categorical("city", ("Lyon", "Metz", "Nice")),
        Categorical("smoker", ("no", "yes")),
        Numeric("age", lower=0, upper=4, step=1),
    ),
    label=Categorical("ill", ("no", "yes")),
)
COLUMNS = ("city", "smoker", "age")


class Counting(ReferenceEngine):
    scans = 0

    def answer(self, questions):
        self.scans += 1
        return super().answer(questions)


def people(seed: int = 1, size: int = 40) -> Counting:
    random = np.random.default_rng(seed)
    columns = {
        column.name: [
            column.values[code] if isinstance(column, Categorical) else float(code)
            for code in random.integers(0, column.cells, size).tolist()
        ]
        for column in SCHEMA
    }
    return Counting(columns, SCHEMA)


@st.composite
def nodes(draw):
    """A split into children, of which some may be merged or left out."""
    if draw(st.booleans()):
        return Cut("age", draw(st.integers(1, 4)), *draw(st.sampled_from([(0, 1), (1, 0), (0, 0)])))
    column = draw(st.sampled_from(["city", "smoker"]))
    size = SCHEMA[column].cells
    children = st.sampled_from([0, 1, 2, OUTSIDE])
    targets = draw(st.lists(children, min_size=size - 1, max_size=size - 1))
    return Branch(column, (0, *targets))


@st.composite
def steps(draw, cells):
    """Cells that come from others as a learner makes them."""
    if draw(st.booleans()):
        chosen = st.lists(st.integers(0, cells.count - 1), min_size=1, unique=True)
        cells = cells.only(draw(chosen))
    split = draw(st.lists(st.integers(0, cells.count - 1), max_size=3, unique=True))
    return cells.refine({cell: draw(nodes()) for cell in split})


@st.composite
def questions(draw, cells):
    return Question(
        cells,
        draw(st.sampled_from([predicate.ALWAYS] * 3 + [predicate.Test("city", ((0, 1),))])),
        draw(st.sampled_from([None, "ill", "ill", "smoker"])),
        tuple(draw(st.lists(st.sampled_from([*COLUMNS, "ill"]), max_size=4, unique=True))),
        ("age",) if draw(st.integers(0, 5)) == 0 else (),
    )


def same(one, other):
    assert np.array_equal(one.totals, other.totals)
    for mine, yours in ((one.columns, other.columns), (one.sums, other.sums)):
        assert mine.keys() == yours.keys()
        assert all(np.array_equal(mine[name], yours[name]) for name in mine)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 9), data=st.data())
def test_what_is_recalled_is_what_a_scan_would_count(seed, data):
    engine = people(seed)
    derived = DerivedCounts(engine)
    cells = Cells()
    for _ in range(4):
        for _ in range(2):
            question = data.draw(questions(cells))
            same(derived.answer([question])[0], engine.answer([question])[0])
        cells = data.draw(steps(cells))


def test_the_labels_of_the_next_level_need_no_scan():
    engine = people()
    derived = DerivedCounts(engine)
    derived.answer([Question(label="ill", columns=COLUMNS)])
    below = Cells().refine({0: Branch("city", (0, 1, 2))})
    derived.answer([Question(below)])
    derived.answer([Question(below.only([2, 0]), columns=("ill",))])
    assert engine.scans == 1
    derived.answer([Question(below.only([1]), label="ill", columns=("age",))])
    assert engine.scans == 2
    derived.answer([Question(below.only([1]).refine({0: Cut("age", 2, 0, 1)}), label="ill")])
    derived.answer([Question(label="ill", columns=("smoker", "city"))])  # a second tree
    assert engine.scans == 2


def test_other_cells_are_not_taken_for_children():
    by_city = Cells().refine({0: Branch("city", (0, 1, 2))})
    by_age = Cells().refine({0: Cut("age", 2, 0, 1)})
    deeper = by_city.refine({1: Cut("age", 2, 0, 1)}).refine({3: Branch("smoker", (0, 1))})
    merged = Cells((Branch("city", (~0, ~0, ~1)),), 2)
    assert descent_of(by_city, by_age) is None
    assert descent_of(by_city, deeper) is None
    assert descent_of(by_city, Cells()) is None
    assert descent_of(merged, by_city) is None  # two cells of the one that was counted
    assert descent_of(by_city, merged) is not None


def test_several_questions_at_once_are_passed_on():
    engine = people()
    derived = DerivedCounts(engine)
    first = Question(label="ill", columns=COLUMNS)
    for _ in range(2):
        mine, yours = derived.answer([first, Question()]), engine.answer([first, Question()])
        for one, other in zip(mine, yours, strict=True):
            same(one, other)
    assert engine.scans == 4
