"""What a person does to one answer before it leaves their machine.

Every distortion works on the codes of a schema attribute: grid cells of numbers, places in the list
of values. It says which codes it can send, with which probabilities, and what it protects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bocage.epsilon import Epsilon
from bocage.errors import SurveyError
from bocage.local.kernel import Edges, Kernel, edges_within, mapped_kernel
from bocage.local.privacy import Privacy
from bocage.mechanisms import IntArray
from bocage.mechanisms.local_tables import LARGEST_EPSILON, LocalTable, draw_local
from bocage.mechanisms.rng import RandomBits, Randomness
from bocage.schema import Attribute, Numeric

MOST_PERCENT = 1000  # ten times the range: beyond, an answer is all noise


class Distortion(ABC):
    """One way to send an answer; a frozen value without an attribute of its own."""

    kind: ClassVar[str]

    @abstractmethod
    def check(self, attribute: Attribute) -> None:
        """Refuse an attribute that this distortion does not fit."""

    def table(self, attribute: Attribute) -> LocalTable | None:  # noqa: ARG002 - most need it
        """The noise, as a table of integers; None if there is no chance involved."""
        return None

    @abstractmethod
    def outputs(self, attribute: Attribute) -> range:
        """All codes that can be sent."""

    @abstractmethod
    def apply(self, attribute: Attribute, codes: IntArray, drawn: IntArray | None) -> IntArray:
        """What is sent for true codes, given what was drawn from the table for each of them."""

    def kernel(
        self,
        attribute: Attribute,
        inputs: ArrayLike | None = None,
        outputs: ArrayLike | None = None,
    ) -> Kernel:
        """P(sent code in an interval | true code in an interval), a row for each true interval.

        `inputs` and `outputs` are edges of intervals of codes; by default each code is one. A true
        code is taken to be uniform within its interval.
        """
        true = edges_within(inputs, range(attribute.cells), "true")
        return self.kernel_between(attribute, true, edges_within(outputs, self.outputs(attribute), "sent"))

    def kernel_between(self, attribute: Attribute, true: Edges, sent: Edges) -> Kernel:
        """The kernel between edges that were checked. This one is for a distortion without chance."""
        codes = self.apply(attribute, np.arange(attribute.cells), None)
        return mapped_kernel(codes, true, sent)

    @abstractmethod
    def privacy(self, attribute: Attribute) -> Privacy:
        """What this distortion protects, three ways."""

    def parameters(self) -> dict[str, Any]:
        """The parameters as they stand in a survey file: whole numbers, and decimals as text."""
        given = {name: getattr(self, name) for name in self._names()}
        return {name: x if isinstance(x, int) else str(x) for name, x in given.items()}

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> Self:
        """Read the parameters of a survey file; refuse what is missing or unknown."""
        needed(parameters, cls.kind, *cls._names())
        return cls(**parameters)

    @classmethod
    def _names(cls) -> list[str]:
        return [field.name for field in fields(cls)]  # type: ignore[arg-type] # each is a dataclass

    def distort(self, attribute: Attribute, codes: IntArray, random: Randomness | None = None) -> IntArray:
        """Distort true codes, each with noise of its own.

        The randomness is the operating system's; only tests and experiments give another.
        """
        self.check(attribute)
        codes = checked(attribute, codes)
        table = self.table(attribute)
        if table is None:
            return self.apply(attribute, codes, None)
        drawn = draw_local([table], len(codes), random or system_randomness())
        return self.apply(attribute, codes, drawn[:, 0])

    def texts(self, attribute: Attribute) -> Sequence[str] | None:
        """What the codes that can be sent are called; None if they are numbers."""
        return None if isinstance(attribute, Numeric) else attribute.values


@dataclass(frozen=True)
class PureDistortion(Distortion):
    """A distortion that is differentially private in the local model, at an epsilon of its own.

    Parameters
    ----------
    epsilon
        Above 0 and at most 64; a number or a text is read as one.
    """

    epsilon: Epsilon

    def __post_init__(self) -> None:
        epsilon = Epsilon.of(self.epsilon)
        if epsilon > Epsilon.of(LARGEST_EPSILON):
            raise SurveyError(
                f"the epsilon of one answer is at most {LARGEST_EPSILON}, not {epsilon}. Above that "
                "nothing is protected: say clear."
            )
        object.__setattr__(self, "epsilon", epsilon)


@cache
def system_randomness() -> Randomness:
    return RandomBits()


def checked(attribute: Attribute, codes: IntArray) -> IntArray:
    """True codes of an attribute, refused if one of them is not."""
    codes = np.asarray(codes)
    if codes.ndim != 1 or not np.issubdtype(codes.dtype, np.integer):
        raise SurveyError(f"the codes of {attribute.name!r} are a list of whole numbers.")
    if len(codes) and not (codes.min() >= 0 and codes.max() < attribute.cells):
        raise SurveyError(
            f"{attribute.name!r}: a code is outside 0 .. {attribute.cells - 1}, or its value is "
            "missing or outside the range that the survey asks for."
        )
    return codes.astype(np.int64)


def numeric(attribute: Attribute, kind: str) -> Numeric:
    """The attribute, if noise can be added to it."""
    if not isinstance(attribute, Numeric):
        raise SurveyError(
            f"{attribute.name!r} is categorical, and {kind} works on numbers. Use response, or "
            "clear if the answer needs no protection."
        )
    if attribute.cells < 2:
        raise SurveyError(f"{attribute.name!r} has one grid cell: there is nothing to tell.")
    return attribute


def needed(parameters: dict[str, Any], kind: str, *names: str) -> None:
    """Refuse parameters that are missing or unknown."""
    for name in names:
        if name not in parameters:
            raise SurveyError(f"the distortion {kind!r} needs its parameter {name!r}.")
    for name in parameters:
        if name not in names:
            listed = ", ".join(map(repr, names)) or "none"
            raise SurveyError(f"the distortion {kind!r} has no parameter {name!r:.60}; it has {listed}.")


def span(attribute: Numeric) -> float:
    """The range of the attribute in grid steps."""
    return float((attribute.upper - attribute.lower) / attribute.width)


def steps_of(attribute: Attribute, percent: float, confidence: float, kind: str) -> float:
    """The width of an interval in grid steps that is this percentage of the range."""
    column = numeric(attribute, kind)
    if not 0 < percent <= MOST_PERCENT:
        raise SurveyError(
            f"privacy must be above 0 and at most {MOST_PERCENT} % of the range, not {percent:g} %."
            " 100 % means that the interval of 95 % confidence is as wide as the range."
        )
    if not 0 < confidence < 1:
        raise SurveyError(f"a confidence lies between 0 and 1, not at {confidence:g}.")
    width = percent / 100 * span(column)
    if width < 1:
        raise SurveyError(
            f"{column.name!r}: {percent:g} % privacy is less than one step of the grid. Declare a "
            "finer grid, or ask for more."
        )
    return width
