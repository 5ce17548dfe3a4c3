"""A learner from a request: its parameters by name, of the declared type, and its price."""

from __future__ import annotations

import inspect
from dataclasses import Field, fields
from typing import Any

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners import LEARNERS, Learner, Plan, RandomTrees, Step
from bocage.learners.papers.rdt import LEAVES
from bocage.schema import Schema
from bocage.service.core import documents


def make_learner(name: str, parameters: dict[str, Any]) -> Learner:
    """A learner by name; what it does not know is refused."""
    if name not in LEARNERS:
        raise LearnerError(f"there is no learner {name!r}. There are {', '.join(LEARNERS)}.")
    parameters_of = {field.name: field for field in _fields(name)}
    for key in parameters:
        if key not in parameters_of:
            raise LearnerError(f"{name} has no parameter {key!r}. It has {', '.join(parameters_of)}.")
    return LEARNERS[name](**{key: _typed(name, parameters_of[key], v) for key, v in parameters.items()})


def plan_of(learner: Learner, schema: Schema, request: documents.LearnRequest) -> Plan:
    """What will be asked, and its price; refuses what the learner would refuse."""
    if request.update is None:
        return learner.plan(schema, request.epsilon)
    if not isinstance(learner, RandomTrees):
        raise LearnerError(f"{learner.name} adds no batch to a model; rdt does.")
    learner.check(schema)
    budget = Epsilon.of(request.epsilon)
    return Plan(learner.name, budget, (Step(0, LEAVES, "discrete Laplace", budget),))


def describe(name: str) -> documents.LearnerDocument:
    """A learner as an analyst sees it."""
    learner = LEARNERS[name]
    return documents.LearnerDocument(
        name=name,
        paper=learner.paper,
        numeric=learner.numeric,
        updates=issubclass(learner, RandomTrees),
        doc=inspect.getdoc(learner) or "",
        parameters=[
            documents.ParameterDocument(name=one.name, type=str(one.type), default=one.default) for one in _fields(name)
        ],
    )


def _fields(name: str) -> tuple[Field[Any], ...]:
    return fields(LEARNERS[name])  # type: ignore[arg-type] # every learner is a dataclass


def _typed(learner: str, field: Field[Any], value: Any) -> Any:
    kind = str(field.type)
    if value is None and "None" in kind:
        return None
    if "tuple" in kind:
        fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
        value = tuple(value) if fits else value
    elif kind == "bool":
        fits = isinstance(value, bool)
    elif kind.startswith("int"):
        fits = isinstance(value, int) and not isinstance(value, bool)
    elif kind == "float":
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = isinstance(value, str)
    if not fits:
        raise LearnerError(f"{learner}: {field.name} is {kind}, not {value!r:.60}.")
    return value
