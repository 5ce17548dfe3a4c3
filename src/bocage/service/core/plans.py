"""Plans as data: the steps of a request become a table or a partition, and its question is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bocage.errors import PlanError
from bocage.model import Forest, Released, Tree, from_dict
from bocage.private import Answer, PrivatePartition, PrivateTable
from bocage.private.partition import MOST_PARTS
from bocage.schema import Numeric
from bocage.service.core import documents as wire

Asked = PrivateTable | PrivatePartition
FindModel = Callable[[str], Released]


def resolve(table: PrivateTable, steps: Sequence[wire.Step], find_model: FindModel) -> Asked:
    """Walk the steps from a table. No row is touched."""
    here: Asked = table
    for number, step in enumerate(steps, 1):
        here = _next(here, step, number, find_model)
    return here


def _next(here: Asked, step: wire.Step, number: int, find_model: FindModel) -> Asked:
    match step:
        case wire.WhereStep() if isinstance(here, PrivateTable):
            return here.where(step.predicate)
        case wire.PartitionStep():
            return here.partition(step.by, edges=step.edges, values=step.values)
        case wire.TreeStep() if isinstance(here, PrivateTable):
            return here.partition(_tree(_model(step, find_model), step.tree))
        case wire.SplitStep() if isinstance(here, PrivatePartition):
            return _split(here, step)
        case wire.PartStep() if isinstance(here, PrivatePartition):
            return here[step.key]
    at = "a table" if isinstance(here, PrivateTable) else "a partition"
    raise PlanError(
        f"step {number} of the plan: {step.op!r} cannot follow {at}. Filters and trees follow a "
        "table, part and split a partition, and a handle comes first."
    )


def _split(here: PrivatePartition, step: wire.SplitStep) -> PrivatePartition:
    splits, children = {}, 0
    for one in step.splits:
        column = here.schema[one.column]
        numeric = isinstance(column, Numeric)
        children += 2 if numeric else column.cells
        fits = 1 <= (one.threshold or 0) < column.cells if numeric else one.threshold is None
        if one.cell >= len(here) or one.cell in splits or not fits:
            raise PlanError(
                f"split: cell {one.cell} by {one.column!r}. Each cell of the partition is split "
                "once at most, by all values of a column or at a threshold of a numeric one."
            )
        splits[one.cell] = (one.column, one.threshold)
    if not 0 < children <= MOST_PARTS:
        raise PlanError(
            f"split: name at least one cell; a partition has at most {MOST_PARTS} parts."
        )
    return here.split(splits)


def _model(step: wire.TreeStep, find_model: FindModel) -> Released:
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


def ask(here: Asked, question: wire.Ask, *, fresh: bool) -> Answer:
    """Ask one question at a place."""
    answer: Answer = getattr(here, question.kind)(**question.arguments, fresh=fresh)
    return answer
