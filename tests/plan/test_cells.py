from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PlanError
from bocage.plan import OUTSIDE, Branch, Cells, Cut
from bocage.schema import Categorical, Schema

SIZES = {"a": 3, "b": 2, "c": 5}
SCHEMA = Schema("t", tuple(Categorical(name, tuple(map(str, range(size)))) for name, size in SIZES.items()))
Row = dict[str, int]
# Where a row is, told by a function instead of a table of nodes: the oracle.
Where = Callable[[Row], int | None]


@st.composite
def splits(draw: st.DrawFn) -> Branch | Cut:
    column = draw(st.sampled_from(sorted(SIZES)))
    child = st.integers(0, 3) | st.just(OUTSIDE)
    if draw(st.booleans()):
        targets = draw(st.lists(child, min_size=SIZES[column], max_size=SIZES[column]))
        targets[0] = draw(st.integers(0, 3))  # at least one child
        return Branch(column, tuple(targets))
    threshold = draw(st.integers(1, SIZES[column] - 1))
    return Cut(column, threshold, draw(st.integers(0, 3)), draw(child))


def child_of(split: Branch | Cut, row: Row) -> int:
    if isinstance(split, Branch):
        return split.targets[row[split.column]]
    return split.below if row[split.column] < split.threshold else split.above


def children(split: Branch | Cut) -> int:
    targets = split.targets if isinstance(split, Branch) else (split.below, split.above)
    return 1 + max(target for target in targets if target != OUTSIDE)


def refined(where: Where, count: int, chosen: dict[int, Branch | Cut]) -> tuple[Where, int]:
    """What `refine` promises: kept cells first, in order; then the children of each split."""
    kept = [cell for cell in range(count) if cell not in chosen]
    first = {}
    total = len(kept)
    for cell, split in chosen.items():
        first[cell], total = total, total + children(split)

    def then(row: Row) -> int | None:
        cell = where(row)
        if cell is None or cell not in chosen:
            return None if cell is None else kept.index(cell)
        child = child_of(chosen[cell], row)
        return None if child == OUTSIDE else first[cell] + child

    return then, total


def everywhere(_: Row) -> int | None:
    return 0


ALL_ROWS: list[Row] = [{"a": a, "b": b, "c": c} for a in range(3) for b in range(2) for c in range(5)]


@given(st.data())
def test_refined_cells_route_every_row_as_the_splits_say(data: st.DataObject) -> None:
    cells, where, count = Cells(), everywhere, 1
    for _ in range(data.draw(st.integers(0, 4))):
        split_cells = data.draw(st.lists(st.integers(0, count - 1), max_size=4, unique=True))
        chosen = {cell: data.draw(splits()) for cell in split_cells}
        cells, (where, count) = cells.refine(chosen), refined(where, count, chosen)
    cells.check(SCHEMA)
    assert cells.count == count
    codes = {name: np.array([row[name] for row in ALL_ROWS]) for name in SIZES}
    found = cells.route(codes, len(ALL_ROWS)).tolist()
    expected = [where(row) for row in ALL_ROWS]
    assert found == [-1 if cell is None else cell for cell in expected]


def test_without_nodes_all_rows_are_in_one_cell() -> None:
    assert Cells().route({}, 3).tolist() == [0, 0, 0]
    assert Cells().route({}, 0).tolist() == []
    assert Cells().columns == ()


def test_a_small_tree_counted_by_hand() -> None:
    tree = Cells().refine({0: Branch("a", (0, 1, OUTSIDE))}).refine({0: Cut("c", 2, 0, 1)})
    assert tree.count == 3  # a=1; then a=0 and c<2; then a=0 and c>=2
    assert tree.columns == ("a", "c")
    codes = {"a": np.array([0, 0, 1, 2]), "c": np.array([1, 4, 0, 0])}
    assert tree.route(codes, 4).tolist() == [1, 2, 0, -1]


@pytest.mark.parametrize(
    ("nodes", "count", "message"),
    [
        ((Cut("a", 1, 0, ~0),), 1, "node 0 of a partition points to 0"),
        ((Cut("a", 1, 5, ~0),), 1, "node 0 of a partition points to 5"),
        ((Cut("a", 1, ~1, ~0),), 1, "node 0 of a partition points to -2"),
        ((Branch("b", (1, ~0)), Cut("a", 1, ~0, 0)), 1, "node 1 of a partition points to 0"),
        ((), 0, "at least one cell"),
    ],
)
def test_a_router_that_would_not_end_is_refused(nodes: tuple[Branch | Cut, ...], count: int, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        Cells(nodes, count)


@pytest.mark.parametrize(
    ("cell", "split"),
    [
        (1, Cut("a", 1, 0, 1)),
        (-1, Cut("a", 1, 0, 1)),
        (0, Branch("b", (OUTSIDE, OUTSIDE))),
        (0, Branch("b", (0, -1))),
    ],
)
def test_a_split_of_nothing_or_into_nothing_is_refused(cell: int, split: Branch | Cut) -> None:
    with pytest.raises(PlanError, match="cannot be split"):
        Cells().refine({cell: split})


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (Branch("b", (0, 1, 2)), "a branch on 'b' needs 2 targets"),
        (Cut("c", 0, 0, 1), r"a cut of 'c' must lie in 1..4, not 0"),
        (Cut("c", 5, 0, 1), r"a cut of 'c' must lie in 1..4, not 5"),
        (Cut("z", 1, 0, 1), "has no column 'z'"),
    ],
)
def test_a_router_that_does_not_fit_the_schema_is_refused(split: Branch | Cut, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        Cells().refine({0: split}).check(SCHEMA)
