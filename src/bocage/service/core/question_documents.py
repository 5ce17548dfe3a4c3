"""Plans and questions as documents: the steps to a place, and what is asked there."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_STEPS = 64
MOST_VALUES = 2**16
LONGEST_PREDICATE = 2**16
LONGEST_TEXT = 1000

Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Amount = Annotated[
    int | float | Annotated[str, Field(max_length=60)],
    Field(description='An amount of epsilon: `0.1`, or `"0.1"`.', examples=["0.1"]),
]
Mode = Literal["release", "preview", "dry_run"]
Selection = Literal["permute_and_flip", "exponential"]


class Document(BaseModel):
    """Something that travels: no member too many, no type guessed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @cached_property
    def written(self) -> str:
        """The document in one way of writing, whichever it came in."""
        return self.model_dump_json()


# Plans


class WhereStep(Document):
    """Keep the rows that pass a filter, written as in `PrivateTable.where`."""

    op: Literal["where"]
    predicate: Annotated[str, Field(max_length=LONGEST_PREDICATE, examples=["age >= 30"])]


class PartitionStep(Document):
    """Part the rows by a column: by its values, or by ranges of a numeric one."""

    op: Literal["partition"]
    by: Text
    edges: Annotated[list[int | float | Text], Field(max_length=MOST_VALUES)] | None = None
    values: Annotated[list[Text], Field(max_length=MOST_VALUES)] | None = None


class TreeStep(Document):
    """Part the rows by the leaves of a tree, or of one tree of a forest: a model by its id, or any
    public one as `bocage.model` writes it."""

    op: Literal["partition_tree"]
    model: Text | None = None
    document: dict[str, Any] | None = None
    tree: Annotated[int, Field(ge=0, le=2**20)] = 0


class CellSplit(Document):
    """How one cell is split: by all values of a column, or below and above a threshold code."""

    cell: Annotated[int, Field(ge=0, le=2**31)]
    column: Text
    threshold: Annotated[int, Field(ge=0, le=2**31)] | None = None


class SplitStep(Document):
    """Go on with the children of some cells of a partition, as `PrivatePartition.split`."""

    op: Literal["split"]
    splits: Annotated[list[CellSplit], Field(max_length=MOST_VALUES)]


class PartStep(Document):
    """Go on with one part of a partition."""

    op: Literal["part"]
    key: Text


class HandleStep(Document):
    """Begin with a partition that was stored before. First step only."""

    op: Literal["handle"]
    handle: Text


Step = Annotated[
    WhereStep | PartitionStep | TreeStep | SplitStep | PartStep | HandleStep,
    Field(discriminator="op"),
]
Steps = Annotated[list[Step], Field(max_length=MOST_STEPS)]


# Questions


class _Question(Document):
    """What is asked at the end of a plan."""

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """What the method of the question's kind takes."""
        return {name: value for name, value in self if name != "kind"}


class CountAsk(_Question):
    """The number of rows."""

    kind: Literal["noisy_count"]
    epsilon: Amount


class CountsAsk(_Question):
    """The number of rows for each value of a column, or of two columns jointly."""

    kind: Literal["noisy_counts"]
    by: Text | Annotated[list[Text], Field(max_length=2)]
    epsilon: Amount


class SumAsk(_Question):
    """The sum of a numeric column."""

    kind: Literal["noisy_sum"]
    column: Text
    epsilon: Amount


class AverageAsk(_Question):
    """The average of a numeric column."""

    kind: Literal["noisy_avg"]
    column: Text
    epsilon: Amount


class QuantileAsk(_Question):
    """A quantile of a numeric column, the median by default."""

    kind: Literal["noisy_quantile"]
    column: Text
    level: float | Text = "0.5"
    epsilon: Amount


class ModeAsk(_Question):
    """The most frequent value of a column."""

    kind: Literal["noisy_mode"]
    column: Text
    selection: Selection = "permute_and_flip"
    epsilon: Amount


class ChooseAsk(_Question):
    """For each cell the column that splits the label best."""

    kind: Literal["choose"]
    among: Annotated[
        list[Text] | list[Annotated[list[Text], Field(max_length=MOST_VALUES)]],
        Field(max_length=MOST_VALUES),
    ]
    criterion: Text
    label: Text | None = None
    selection: Selection = "permute_and_flip"
    epsilon: Amount


Ask = Annotated[
    CountAsk | CountsAsk | SumAsk | AverageAsk | QuantileAsk | ModeAsk | ChooseAsk,
    Field(discriminator="kind"),
]
