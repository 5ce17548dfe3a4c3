"""The one document form of a question: the steps to the rows, and what is asked of them.

The ledger, a service and its clients share it. A question has two names: a word in the memos of a
ledger, and the method that asks it, under which it travels. Its members are the same in both.

::

    in a memo          {"ask": "sum", "column": "age", "epsilon": "0.1"}
    as it travels      {"kind": "noisy_sum", "column": "age", "epsilon": "0.1"}

A new question is declared here: its memo, its way over the wire and what a service accepts follow
from the annotations. Names, members and their order are final. Stored answers and requests that were
made before are found by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

from bocage.errors import PlanError

MOST_STEPS = 64
MOST_VALUES = 2**16
LONGEST_PREDICATE = 2**16
LONGEST_TEXT = 1000
_MOST_CODES = 2**31


@dataclass(frozen=True)
class Limits:
    """What is accepted of strangers for a member, and how it is shown to them."""

    longest: int | None = None  # characters of a text, members of a list
    least: int | None = None
    most: int | None = None
    description: str | None = None
    examples: tuple[str, ...] = ()


Text = Annotated[str, Limits(longest=LONGEST_TEXT)]
Texts = Annotated[Sequence[Text], Limits(longest=MOST_VALUES)]
Code = Annotated[int, Limits(least=0, most=_MOST_CODES)]
Amount = Annotated[
    int | float | Annotated[str, Limits(longest=60)],
    Limits(description='An amount of epsilon: `0.1`, or `"0.1"`.', examples=("0.1",)),
]
Selection = Literal["permute_and_flip", "exponential"]


@dataclass(frozen=True, kw_only=True)
class Members:
    """Data with named members."""

    @property
    def members(self) -> dict[str, Any]:
        return {member.name: getattr(self, member.name) for member in fields(self)}


# What is asked


@dataclass(frozen=True, kw_only=True)
class Ask(Members):
    """What is asked of the rows at a place."""

    ask: ClassVar[str]  # its word in the memos of a ledger
    kind: ClassVar[str]  # the method that asks it: its name as it travels

    def memo(self) -> dict[str, Any]:
        """What a ledger keeps of it: equal questions have equal memos."""
        return {"ask": self.ask, **self.members}

    def wire(self) -> dict[str, Any]:
        """What travels to a service."""
        return {"kind": self.kind, **self.members}


@dataclass(frozen=True, kw_only=True)
class CountAsk(Ask):
    """The number of rows."""

    ask, kind = "count", "noisy_count"
    epsilon: Amount


@dataclass(frozen=True, kw_only=True)
class CountsAsk(Ask):
    """The number of rows for each value of a column, or of two columns jointly."""

    ask, kind = "counts", "noisy_counts"
    by: Text | Annotated[Sequence[Text], Limits(longest=2)]
    epsilon: Amount


@dataclass(frozen=True, kw_only=True)
class SumAsk(Ask):
    """The sum of a numeric column."""

    ask, kind = "sum", "noisy_sum"
    column: Text
    epsilon: Amount


@dataclass(frozen=True, kw_only=True)
class AverageAsk(Ask):
    """The average of a numeric column."""

    ask, kind = "average", "noisy_avg"
    column: Text
    epsilon: Amount


@dataclass(frozen=True, kw_only=True)
class QuantileAsk(Ask):
    """A quantile of a numeric column, the median by default."""

    ask, kind = "quantile", "noisy_quantile"
    column: Text
    level: float | Text = "0.5"
    epsilon: Amount


@dataclass(frozen=True, kw_only=True)
class ModeAsk(Ask):
    """The most frequent value of a column."""

    ask, kind = "mode", "noisy_mode"
    column: Text
    selection: Selection = "permute_and_flip"
    epsilon: Amount


@dataclass(frozen=True, kw_only=True)
class ChooseAsk(Ask):
    """For each cell the column that splits the label best."""

    ask, kind = "choose", "choose"
    among: Annotated[Sequence[Text] | Sequence[Texts], Limits(longest=MOST_VALUES)]
    criterion: Text
    label: Text | None = None
    selection: Selection = "permute_and_flip"
    epsilon: Amount


ASKS: tuple[type[Ask], ...] = (
    CountAsk,
    CountsAsk,
    SumAsk,
    AverageAsk,
    QuantileAsk,
    ModeAsk,
    ChooseAsk,
)


# Where it is asked


@dataclass(frozen=True, kw_only=True)
class Step(Members):
    """One step from a table to the rows that are asked about."""

    op: ClassVar[str]

    def wire(self) -> dict[str, Any]:
        """What travels to a service: members that are as by default need not be said."""
        default = {member.name: member.default for member in fields(self)}
        said = {name: value for name, value in self.members.items() if value != default[name]}
        return {"op": self.op, **said}


@dataclass(frozen=True, kw_only=True)
class WhereStep(Step):
    """Keep the rows that pass a filter, written as in `PrivateTable.where`."""

    op = "where"
    predicate: Annotated[str, Limits(longest=LONGEST_PREDICATE, examples=("age >= 30",))]


@dataclass(frozen=True, kw_only=True)
class PartitionStep(Step):
    """Part the rows by a column: by its values, or by ranges of a numeric one."""

    op = "partition"
    by: Text
    edges: Annotated[Sequence[int | float | Text], Limits(longest=MOST_VALUES)] | None = None
    values: Texts | None = None


@dataclass(frozen=True, kw_only=True)
class TreeStep(Step):
    """Part the rows by the leaves of a tree, or of one tree of a forest: a model by its id, or any
    public one as `bocage.model` writes it."""

    op = "partition_tree"
    model: Text | None = None
    document: dict[str, Any] | None = None
    tree: Annotated[int, Limits(least=0, most=2**20)] = 0


@dataclass(frozen=True, kw_only=True)
class CellSplit(Members):
    """How one cell is split: by all values of a column, or below and above a threshold code."""

    cell: Code
    column: Text
    threshold: Code | None = None


@dataclass(frozen=True, kw_only=True)
class SplitStep(Step):
    """Go on with the children of some cells of a partition, as `PrivatePartition.split`."""

    op = "split"
    splits: Annotated[Sequence[CellSplit], Limits(longest=MOST_VALUES)]

    def wire(self) -> dict[str, Any]:
        return {"op": self.op, "splits": [split.members for split in self.splits]}


@dataclass(frozen=True, kw_only=True)
class PartStep(Step):
    """Go on with one part of a partition."""

    op = "part"
    key: Text


@dataclass(frozen=True, kw_only=True)
class HandleStep(Step):
    """Begin with a partition that was stored before. First step only."""

    op = "handle"
    handle: Text


STEPS: tuple[type[Step], ...] = (
    WhereStep,
    PartitionStep,
    TreeStep,
    SplitStep,
    PartStep,
    HandleStep,
)
_STEP_OF = {step.op: step for step in STEPS}


def step_of(document: Mapping[str, Any]) -> Step:
    """Read a step that was checked by the service that gave or takes it."""
    members = {name: value for name, value in document.items() if name != "op"}
    step = _STEP_OF.get(document["op"])
    if step is None:
        raise PlanError(f"there is no step {document['op']!r}. There are {', '.join(_STEP_OF)}.")
    if step is SplitStep:
        members["splits"] = [CellSplit(**dict(split)) for split in members["splits"]]
    return step(**members)
