"""Plans and questions as documents that strangers send: made from their one form, and checked.

The form is declared in :mod:`bocage.plan.documents`. Here each of its classes becomes a model that
refuses what is too long, too many or of another type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from functools import cached_property
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from bocage.plan import documents
from bocage.plan.documents import ASKS, MOST_STEPS, STEPS, Limits, Members, step_of

Mode = Literal["release", "preview", "dry_run"]


class Document(BaseModel):
    """Something that travels: no member too many, no type guessed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @cached_property
    def written(self) -> str:
        """The document in one way of writing, whichever it came in."""
        return self.model_dump_json()


class StepDocument(Document):
    """One step of a plan."""

    if TYPE_CHECKING:
        op: str

    @cached_property
    def form(self) -> documents.Step:
        return step_of(dict(self))


class AskDocument(Document):
    """What is asked at the end of a plan."""

    if TYPE_CHECKING:
        kind: str

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """What the method of the question's kind takes."""
        return {name: value for name, value in self if name != "kind"}


def _document(form: type[Members], base: type[Document] = Document, tag: str = "") -> type[Document]:
    """The model that reads one class of the form; `tag` is the member that tells it from others."""
    hints = get_type_hints(form, include_extras=True)
    members: dict[str, Any] = {tag: (Literal[getattr(form, tag)], ...)} if tag else {}
    for member in fields(form):
        default = ... if member.default is MISSING else member.default
        members[member.name] = (_checked(hints[member.name]), default)
    model = create_model(form.__name__, __base__=base, __module__=__name__, **members)
    model.__doc__ = form.__doc__
    return model


def _checked(hint: Any) -> Any:
    """An annotation of the form, as the one that reads what strangers send."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[(_checked(arguments[0]), *map(_field, arguments[1:]))]
    if origin in (Union, UnionType):
        return Union[tuple(map(_checked, arguments))]  # noqa: UP007 - of types that come at run time
    if origin is Sequence:
        return list[_checked(arguments[0])]  # type: ignore[misc] # likewise
    return _document(hint) if isinstance(hint, type) and issubclass(hint, Members) else hint


def _field(limits: Limits) -> FieldInfo:
    field: FieldInfo = Field(
        max_length=limits.longest,
        ge=limits.least,
        le=limits.most,
        description=limits.description,
        examples=list(limits.examples) or None,
    )
    return field


def _any_of(forms: Iterable[type[Members]], base: type[Document], tag: str) -> Any:
    models = tuple(_document(form, base, tag) for form in forms)
    return Annotated[Union[models], Field(discriminator=tag)]  # noqa: UP007 - as above


if TYPE_CHECKING:
    Text: TypeAlias = str
    Amount: TypeAlias = int | float | str
    Step: TypeAlias = StepDocument
    Ask: TypeAlias = AskDocument
    Steps: TypeAlias = list[StepDocument]
else:
    Text, Amount = _checked(documents.Text), _checked(documents.Amount)
    Step, Ask = _any_of(STEPS, StepDocument, "op"), _any_of(ASKS, AskDocument, "kind")
    Steps = Annotated[list[Step], Field(max_length=MOST_STEPS)]
