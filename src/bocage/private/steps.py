"""From a table to the rows that are asked about, by the steps of a plan that travels."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bocage.errors import PlanError
from bocage.model import Forest, Released, Tree, from_dict
from bocage.plan.documents import (
    CellSplit,
    PartitionStep,
    PartStep,
    SplitStep,
    Step,
    TreeStep,
    WhereStep,
)
from bocage.private.partition import MOST_PARTS, PrivatePartition
from bocage.private.table import PrivateTable
from bocage.schema import Numeric

Rows = PrivateTable | PrivatePartition
FindModel = Callable[[str], Released]


def follow(table: Rows, steps: Iterable[Step], find_model: FindModel) -> Rows:
    """Walk the steps from a table. No row is touched."""
    rows = table
    for number, step in enumerate(steps, 1):
        rows = _next(rows, step, number, find_model)
    return rows


def _next(rows: Rows, step: Step, number: int, find_model: FindModel) -> Rows:
    match rows, step:
        case PrivateTable(), WhereStep():
            return rows.where(step.predicate)
        case _, PartitionStep():
            return rows.partition(step.by, edges=step.edges, values=step.values)
        case PrivateTable(), TreeStep():
            return rows.partition(_tree(_model(step, find_model), step.tree))
        case PrivatePartition(), SplitStep():
            return rows.split(_splits(rows, step.splits))
        case PrivatePartition(), PartStep():
            return rows[step.key]
    at = "a table" if isinstance(rows, PrivateTable) else "a partition"
    raise PlanError(
        f"step {number} of the plan: {step.op!r} cannot follow {at}. Filters and trees follow a "
        "table, part and split a partition, and a handle comes first."
    )


def _splits(partition: PrivatePartition, cells: Iterable[CellSplit]) -> dict[int, tuple[str, int | None]]:
    """The column and the threshold for each cell that is split."""
    splits: dict[int, tuple[str, int | None]] = {}
    children = 0
    for split in cells:
        column = partition.schema[split.column]
        numeric = isinstance(column, Numeric)
        children += 2 if numeric else column.cells
        fits = 1 <= (split.threshold or 0) < column.cells if numeric else split.threshold is None
        if split.cell >= len(partition) or split.cell in splits or not fits:
            raise PlanError(
                f"split: cell {split.cell} by {split.column!r}. Each cell of the partition is split "
                "once at most, by all values of a column or at a threshold of a numeric one."
            )
        splits[split.cell] = (split.column, split.threshold)
    if not 0 < children <= MOST_PARTS:
        raise PlanError(f"split: name at least one cell; a partition has at most {MOST_PARTS} parts.")
    return splits


def _model(step: TreeStep, find_model: FindModel) -> Released:
    if step.model is not None and step.document is None:
        return find_model(step.model)
    if step.document is not None and step.model is None:
        return from_dict(step.document)
    raise PlanError("partition_tree takes a model by its id, or a document: one of the two.")


def _tree(model: Released, number: int) -> Tree:
    if isinstance(model, Tree) and number == 0:
        return model
    if isinstance(model, Forest) and number < len(model.trees):
        return model.trees[number]
    raise PlanError(f"the model has no tree {number}.")
