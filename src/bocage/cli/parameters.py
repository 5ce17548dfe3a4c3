"""A learner from what stands on the command line."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any

from bocage.errors import LearnerError

if TYPE_CHECKING:
    from bocage.learners import Learner

_NO = {"false", "no", "off", "0"}
_YES = {"true", "yes", "on", "1"}


def make_learner(name: str, parameters: list[str]) -> Learner:
    """A learner from texts such as ``depth=5``; all of them are public."""
    from bocage.learners import LEARNERS

    if name not in LEARNERS:
        raise LearnerError(f"there is no learner {name!r}. There are {', '.join(LEARNERS)}.")
    known = {field.name: field for field in fields(LEARNERS[name])}  # type: ignore[arg-type] # every learner is a dataclass
    given = {}
    for text in parameters:
        key, equals, value = text.partition("=")
        if not equals or key not in known:
            raise LearnerError(
                f"{name} has no parameter {key!r}. Write name=value; it has {', '.join(known)}."
            )
        given[key] = _value(name, known[key], value.strip())
    return LEARNERS[name](**given)


def _value(learner: str, field: Field[Any], text: str) -> Any:
    kind = str(field.type)
    if text.lower() == "none" and "None" in kind:
        return None
    if "tuple" in kind:
        return tuple(part.strip() for part in text.split(","))
    if kind == "bool" and text.lower() in _YES | _NO:
        return text.lower() in _YES
    try:
        if kind.startswith("int"):
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        pass
    if kind.startswith(("int", "float", "bool")):
        raise LearnerError(f"{learner}: {field.name} is {kind}, not {text!r}.")
    return text
