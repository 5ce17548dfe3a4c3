"""What all learners share: parameters checked before a charge, a plan, a certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from functools import partial, wraps
from typing import Any, ClassVar, TypeVar

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.plan import Plan
from bocage.model import AdditiveModel, Certificate, Released, Tree
from bocage.model.tree.shape import labels as model_labels
from bocage.plan.question import MOST_COUNTERS
from bocage.private import EpsilonLike, OpenCells, PrivateTable, Selection, capabilities
from bocage.private.capabilities import Capability
from bocage.schema import Categorical, Schema

Progress = Callable[[int, int], None]  # levels done, levels in all
MOST_DEPTH = 40
M = TypeVar("M", Tree, AdditiveModel, Tree | AdditiveModel, Released)


def quiet(done: int, of: int) -> None:
    """No progress is shown."""


class Learner(ABC):
    """One published algorithm. Its fields are its parameters; all of them are public.

    Every learner has the parameter `attributes`: the names of those that a tree may split by, or
    None for all that the schema declares.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    numeric: ClassVar[bool] = False  # whether it splits by numeric attributes
    attributes: tuple[str, ...] | None

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Every `fit` goes through its table, which knows where the rows are."""
        super().__init_subclass__(**keywords)
        if "fit" in vars(cls):
            cls.fit = _beside_the_rows(cls.fit)  # type: ignore[method-assign] # the same signature

    @abstractmethod
    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        """What will be asked, or a clear refusal. Looks at nothing but its arguments."""

    @abstractmethod
    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Released:
        """Charge `epsilon` at once, ask as planned, return a frozen model."""

    def check(self, schema: Schema) -> tuple[str, ...]:
        """The attributes that a tree may split by, or a clear refusal."""
        labels = label_of(schema).cells
        names = attributes_of(schema, self.name, self.attributes, numeric=self.numeric)
        if labels * (1 + sum(schema[name].cells for name in names)) > MOST_COUNTERS:
            raise LearnerError(
                f"{self.name} would need more than {MOST_COUNTERS} counters for a single node: "
                "name fewer attributes, or declare coarser grids."
            )
        return names

    def parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type] # every learner is a dataclass

    def reserve(self, table: PrivateTable, plan: Plan) -> OpenCells:
        """The one durable charge of a fit."""
        memo = plan.memo(**self.parameters())
        return table.reserve(plan.budget, memo, self.requires(table.schema))

    def requires(self, schema: Schema) -> tuple[Capability, ...]:
        """What not every noise provider has: one that lacks it refuses before the charge."""
        numeric = any(not isinstance(schema[name], Categorical) for name in self.check(schema))
        weighted = self.parameters().get("selection") == Selection.EXPONENTIAL
        return (capabilities.weights,) if numeric and weighted else ()

    @property
    def settled(self) -> bool:
        """Whether no answer has a say in what is asked."""
        return False

    def certificate(self, cells: OpenCells, *, sound: bool = True, notes: tuple[str, ...] = ()) -> Certificate:
        """What was released out of a reservation so far, as the executor wrote it."""
        transcript = cells.transcript
        lines = transcript.lines()
        if cells.made_up:
            rows = "the rows" if cells.batch is None else f"the rows of batch {cells.batch!r}"
            notes = (
                f"A dry run: {rows} were made up from the schema. No record was read.",
                *notes,
            )
        variant = ", ".join(f"{key}={value}" for key, value in self.parameters().items())
        return Certificate(
            learner=self.name,
            variant=variant,
            epsilon=str(transcript.charged) if sound else None,
            adjacency=cells.adjacency.value,
            table=cells.schema.name,
            schema=cells.schema.fingerprint,
            plan=lines,
            mechanisms=tuple(dict.fromkeys(line.mechanism for line in lines)),
            entry=cells.entry,
            notes=tuple(dict.fromkeys(notes)),
            settled=self.settled,
        )

    def certified(self, model: M, cells: OpenCells) -> M:
        """The finished model, now that all of its releases were made."""
        return replace(model, certificate=self.certificate(cells, notes=model.certificate.notes))


def _beside_the_rows(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A table may be elsewhere, behind a service: there the learner runs, and here the model is."""

    @wraps(fit)
    def through(self: Learner, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Any:
        return table.learn(self, partial(fit, self), epsilon, progress)

    return through


def label_of(schema: Schema) -> Categorical:
    """The label that is learned, or a refusal."""
    if schema.label is None:
        raise LearnerError(f"the schema of {schema.name!r} declares no label (target) to learn.")
    if schema.label.cells < 2:
        raise LearnerError(f"the label {schema.label.name!r} has one value only: nothing to learn.")
    model_labels(schema)
    return schema.label


def attributes_of(schema: Schema, learner: str, chosen: Collection[str] | None, *, numeric: bool) -> tuple[str, ...]:
    """The attributes that a tree may split by: those with two values or more."""
    known = [a.name for a in schema.attributes]
    if isinstance(chosen, str):
        raise LearnerError(f"{learner} takes a list of attributes, not the text {chosen!r}.")
    for name in chosen or ():
        if name not in known:
            raise LearnerError(
                f"table {schema.name!r} has no attribute {name!r}. It has {', '.join(map(repr, known)) or 'none'}."
            )
    names = tuple(a.name for a in schema.attributes if a.cells > 1 and (chosen is None or a.name in chosen))
    if not names:
        raise LearnerError(f"{learner} has no attribute of {schema.name!r} with two values or more to split by.")
    if not numeric:
        unfit = [name for name in names if not isinstance(schema[name], Categorical)]
        if unfit:
            raise LearnerError(
                f"{learner} splits by categorical attributes only, and {unfit[0]!r} is numeric. "
                "Take DiffPC4.5, or declare the attribute as categorical ranges."
            )
    return names


def selection_named(name: str, learner: str) -> Selection:
    if name not in [*Selection]:
        raise LearnerError(f"{learner}: selection is {' or '.join(Selection)}, not {name!r}.")
    return Selection(name)


def check_word(value: object, what: str, known: tuple[str, ...], learner: str) -> None:
    if value not in known:
        raise LearnerError(f"{learner}: {what} is {' or '.join(known)}, not {value!r}.")


def check_depth(depth: int, learner: str) -> None:
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MOST_DEPTH:
        raise LearnerError(f"{learner} needs a depth from 1 to {MOST_DEPTH}, not {depth!r}.")


def budget_of(epsilon: EpsilonLike, questions: int, learner: str) -> Epsilon:
    """The budget, if every question can have a share of it."""
    budget = Epsilon.of(epsilon)
    if budget.nano < questions:
        raise LearnerError(
            f"{learner} asks {questions} questions along a path and epsilon={budget} is too small "
            f"to share: take at least {Epsilon(questions)}, in practice far more."
        )
    return budget
