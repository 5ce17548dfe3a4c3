"""The documents that travel: requests and answers of the HTTP interface, version 1.

Epsilon travels as a decimal text or a number and comes back as a decimal text, so that no amount is
rounded on the way. Unknown members are refused: a misspelt option must not be ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from bocage.service.core.question_documents import Amount, Ask, Document, Mode, Step, Steps, Text

__all__ = ["Ask", "Document", "Step"]  # travel too, and are defined next door

KEY_PATTERN = "[!-~]{1,100}"  # of an idempotency key
NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"  # of a table


class QueryRequest(Document):
    """One question: where it is asked, what, and whether it is released, priced or rehearsed."""

    plan: Steps = Field(default_factory=list)
    ask: Ask
    fresh: bool = False
    mode: Mode = "release"
    rows: Annotated[int, Field(ge=1, le=2**40)] | None = Field(
        default=None, description="For a preview or a dry run: a number of rows to assume."
    )


class AnswerDocument(Document):
    """An answer, member by member as `bocage.Answer`."""

    question: str
    keys: list[str]
    values: list[int | float | str | None]
    mechanism: str
    scale: str
    plus_minus: float | None
    cost: str
    adjacency: str
    kind: Literal["release", "stored", "dry run", "preview"]
    lows: list[float | None] | None
    highs: list[float | None] | None
    splits: list[tuple[str, int | None]] | None
    entry: int | None
    remaining: str | None
    note: str


# Tables, accounts, partitions


class AccountDocument(Document):
    """What one analyst has of one table."""

    table: str
    cap: str
    spent: str
    remaining: str
    state: Literal["open", "frozen", "revoked"]


class MeDocument(Document):
    """Who asks, and what is left."""

    analyst: str
    tables: list[AccountDocument]


class TableDocument(Document):
    """One table: everything in it is public."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    name: str
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    adjacency: Literal["add_remove", "replace"]
    batch: str | None
    cap: str
    spent: str
    remaining: str
    state: Literal["open", "frozen", "revoked"]
    ready: bool
    moving: bool  # rows may change at any moment, so that parts share no maximum
    learners: list[str]


class BalanceRequest(Document):
    """A plan that ends in a table or a part, to look at its account."""

    plan: Steps


class BalanceDocument(Document):
    """What was spent on a part of a table, and the largest charge that would be accepted now."""

    spent: str
    remaining: str


class PartitionRequest(Document):
    """A plan that ends in a partition, to be kept under a handle."""

    plan: Steps


class PartitionDocument(Document):
    """A kept partition. What is spent on its parts costs the maximum, however long it lasts."""

    handle: str
    table: str
    plan: Steps
    keys: list[str]


# Learning


class ParameterDocument(Document):
    """One parameter of a learner."""

    name: str
    type: str
    default: Any


class LearnerDocument(Document):
    """A learner, its parameters with defaults, and what it says about itself."""

    name: str
    paper: str
    numeric: bool
    updates: bool
    doc: str
    parameters: list[ParameterDocument]


class LearnRequest(Document):
    """Grow a model: a learner by name, its parameters, and the epsilon of the whole model."""

    learner: Text
    parameters: dict[Text, Any] = Field(default_factory=dict)
    epsilon: Amount
    mode: Mode = "release"
    plan: Steps = Field(default_factory=list, description="Filters and parts; ends in a table.")
    update: Text | None = Field(default=None, description="A forest of random trees to which this batch is added.")
    rows: Annotated[int, Field(ge=1, le=2**40)] | None = Field(
        default=None, description="For a dry run: how many rows to make up."
    )


class PlanLineDocument(Document):
    """One line of a learner's plan."""

    level: int
    question: str
    mechanism: str
    epsilon: str
    queries: int


class LearnPreview(Document):
    """What a model would cost: the lines add up to the total."""

    kind: Literal["preview"]
    learner: str
    lines: list[PlanLineDocument]
    total: str
    remaining: str
    note: str


class ErrorBody(Document):
    """Why a request was refused: `code` for programs, the rest for people."""

    code: str
    message: str
    hint: str


class ErrorDocument(Document):
    """The one shape of all errors."""

    error: ErrorBody


State = Literal["queued", "running", "done", "failed", "cancelled", "revoked"]


class JobDocument(Document):
    """A model in the making. `model` is there when it is done, `error` when it went wrong."""

    id: str
    table: str
    learner: str
    epsilon: str
    mode: Literal["release", "dry_run"]
    state: State
    done: int
    of: int
    entry: int | None
    model: str | None
    error: ErrorBody | None
    created: str
    updated: str


class JobAccepted(Document):
    """The job was admitted and, unless it is a dry run, its whole price is charged."""

    job: Annotated[str, Field(description="Its id.")]
    status: JobDocument


class ModelSummary(Document):
    """One model of an analyst."""

    id: str
    table: str
    learner: str
    epsilon: str | None
    format: str  # "bocage.tree", "bocage.forest", …
    job: str
    dry_run: bool
    created: str


# Ledger and parties


class LineDocument(Document):
    """One line of the ledger about one's own account."""

    number: int
    time: str
    action: str
    scope: list[str]
    epsilon: str
    memo: str
    request: str | None


class LedgerDocument(Document):
    """Own lines in order; `next` is what to give as `after` for the lines that follow, if any."""

    lines: list[LineDocument]
    next: int | None


class ContributeRequest(Document):
    """A plan of several owners, and the party as which this owner answers."""

    party: Annotated[str, Field(max_length=200)]
    plan: dict[str, Any]


class HealthDocument(Document):
    """Whether the service works; nothing about data."""

    status: Literal["ok", "degraded"]
    version: str
