"""Distortions as people write them: ``laplace:1``, ``gaussian:100%``, ``class:10``."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil

from bocage.epsilon import Epsilon
from bocage.errors import BocageError, SurveyError
from bocage.local.additive_noise import Gaussian, Laplace, Uniform
from bocage.local.discrete import Clear, RandomizedResponse, ValueClass
from bocage.local.distortion import Distortion, numeric
from bocage.schema import Attribute, Numeric, number

NOISES: dict[str, type[Uniform | Gaussian | Laplace | ValueClass]] = {
    kind.kind: kind for kind in (Uniform, Gaussian, Laplace, ValueClass)
}
FORMS = (
    "clear, class:WIDTH, classes:EDGE,EDGE,..., uniform:ALPHA, gaussian:SIGMA, laplace:EPSILON or "
    "response:EPSILON; the widths are in the unit of the column, and uniform, gaussian, laplace and "
    "class also take a privacy such as 100%"
)


def parse_distortion(attribute: Attribute, text: str) -> Distortion:
    """The distortion that a text such as ``laplace:1`` means for this attribute."""
    kind, colon, parameter = (part.strip() for part in text.partition(":"))
    if kind == "clear" and not colon:
        return Clear()
    if kind not in {*NOISES, "classes", "response"}:
        raise SurveyError(f"{attribute.name!r}: {text!r:.60} is no distortion. Write {FORMS}.")
    if not parameter:
        raise SurveyError(f"{attribute.name!r}: {kind} needs a parameter. Write {FORMS}.")
    try:
        made = _made(attribute, kind, parameter)
        made.check(attribute)
    except BocageError as error:
        where = "" if repr(attribute.name) in str(error) else f"{attribute.name!r}: "
        raise SurveyError(f"{where}{error}") from None
    return made


def _made(attribute: Attribute, kind: str, parameter: str) -> Distortion:
    if kind == "response":
        return RandomizedResponse(Epsilon.of(parameter))
    column = numeric(attribute, kind)
    if kind == "classes":
        return ValueClass(edges=tuple(_cell(column, edge) for edge in parameter.split(",")))
    if parameter.endswith("%"):
        return NOISES[kind].of_privacy(column, float(_number(parameter[:-1])))
    if kind == "laplace":
        return Laplace(Epsilon.of(parameter))
    steps = _number(parameter) / column.width
    if steps <= 0:
        raise SurveyError(f"the parameter of {kind} must be above 0, not {parameter:.40}.")
    if kind == "uniform":
        return Uniform(ceil(steps))
    if kind == "gaussian":
        # Rounded up at the sixth decimal of a step: the noise is never less than was asked for.
        return Gaussian(Decimal(ceil(steps * 10**6)) / 10**6)
    if steps.denominator != 1:
        raise SurveyError(f"the width {parameter:.40} is no multiple of {number(column.width)}.")
    return ValueClass(int(steps))


def _cell(column: Numeric, text: str) -> int:
    cell = (_number(text) - column.lower) / column.width
    if cell.denominator != 1:
        raise SurveyError(
            f"the edge {text.strip():.40} does not lie on the grid, which has a step of "
            f"{number(column.width)} from {number(column.lower)}."
        )
    return int(cell)


def _number(text: str) -> Fraction:
    text = text.strip()
    try:
        value = float(text)
        if abs(value) <= 1e18 and len(text) <= 40:
            return Fraction(text)
    except ValueError:
        pass
    raise SurveyError(f"{text!r:.60} is no number of ordinary size.")
