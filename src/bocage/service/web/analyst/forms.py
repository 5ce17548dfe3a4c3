"""A form for every learner, from what the learner says about its own parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bocage.learners import LEARNERS
from bocage.mechanisms import Selection
from bocage.private import CRITERIA
from bocage.schema import Categorical, Schema
from bocage.service.core import documents
from bocage.service.core.learning import describe

_REFUSED = {"local"}  # variants for study, which a table with a ledger refuses


@dataclass(frozen=True)
class Parameter:
    """One field of a form. An empty field means the default."""

    name: str
    kind: str  # whole, number, text, yes or no, choice, columns
    default: Any
    choices: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class LearnerForm:
    """A learner as a page shows it."""

    name: str
    paper: str
    summary: str
    parameters: tuple[Parameter, ...]


def forms_of(schema: Schema) -> list[LearnerForm]:
    """The forms of all learners for a schema."""
    return [_form(describe(name), schema) for name in LEARNERS]


def _form(learner: documents.LearnerDocument, schema: Schema) -> LearnerForm:
    hints = _hints(learner.doc)
    parameters = [_parameter(one, hints, learner, schema) for one in learner.parameters]
    summary = learner.doc.split("\n\n", 1)[0].replace("\n", " ")
    return LearnerForm(learner.name, learner.paper, summary, tuple(parameters))


def _parameter(
    one: documents.ParameterDocument,
    hints: dict[str, str],
    learner: documents.LearnerDocument,
    schema: Schema,
) -> Parameter:
    default, written = one.default, hints.get(one.name, "")
    hint = written.replace("``", "").replace('"', "")
    if "tuple" in one.type:
        able = [a.name for a in schema.attributes if learner.numeric or isinstance(a, Categorical)]
        choices = tuple(a.name for a in schema.attributes)
        return Parameter(one.name, "columns", able, choices, hint)
    if one.type == "bool":
        return Parameter(one.name, "yes or no", default, (), hint)
    if one.type.startswith("int"):
        return Parameter(one.name, "whole", default, (), hint)
    if one.type == "float":
        return Parameter(one.name, "number", default, (), hint)
    choices = _choices(one, schema, written)
    kind = "choice" if choices else "text"
    return Parameter(one.name, kind, default, choices, hint)


def _choices(one: documents.ParameterDocument, schema: Schema, written: str) -> tuple[str, ...]:
    if found := re.findall(r"'([^']*)'", one.type):
        return tuple(word for word in found if word not in _REFUSED)
    if one.name == "criterion":
        return tuple(CRITERIA)
    if one.name == "selection":
        return tuple(map(str, Selection))
    if "None" in one.type:  # the name of a column
        return tuple(a.name for a in schema.attributes if isinstance(a, Categorical))
    return tuple(dict.fromkeys(re.findall(r'``"([^"`]*)"``', written)))


def _hints(doc: str) -> dict[str, str]:
    """What a docstring says about each parameter, as plain sentences."""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w|\Z)", doc, re.DOTALL)
    found: dict[str, str] = {}
    for names, text in re.findall(
        r"^(\S.*)\n((?:    .*\n?|\n)+)", section[1] if section else "", re.MULTILINE
    ):
        words = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", " ".join(text.split()))
        for name in names.split(","):
            found[name.strip()] = words
    return found
