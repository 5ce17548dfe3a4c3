"""Answers without added noise: in the clear, by class, and by randomized response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np

from bocage.errors import SurveyError
from bocage.local.distortion import Distortion, PureDistortion, needed, numeric, span, steps_of
from bocage.local.kernel import Edges, Kernel, mapped_kernel
from bocage.local.privacy import CONFIDENCES, Privacy, epsilon_words, figure
from bocage.mechanisms import IntArray
from bocage.mechanisms.local_loss import loss, response_ratio
from bocage.mechanisms.local_tables import WHOLE, LocalTable, response_table
from bocage.schema import Attribute, Categorical, Numeric


@dataclass(frozen=True)
class Clear(Distortion):
    """The answer is sent as it is, a number as its grid cell.

    Privacy
    -------
    None.
    """

    kind: ClassVar[str] = "clear"

    def check(self, attribute: Attribute) -> None:
        """Anything can be sent in the clear."""

    def outputs(self, attribute: Attribute) -> range:
        return range(attribute.cells)

    def apply(self, attribute: Attribute, codes: IntArray, drawn: IntArray | None) -> IntArray:  # noqa: ARG002 - one signature for all distortions
        return codes

    def privacy(self, attribute: Attribute) -> Privacy:
        words = f"{attribute.name}: sent as it is. Nothing protects this answer."
        widths = (0.0, 0.0, 0.0) if isinstance(attribute, Numeric) else None
        return Privacy(attribute.name, self.kind, widths, 0.0 if widths else None, None, words)


@dataclass(frozen=True)
class ValueClass(Distortion):
    """Value-class membership: only the interval that a number lies in is sent.

    Parameters
    ----------
    width
        Grid cells in a class; the last class may have fewer.
    edges
        Instead of a width, the first cells of the second, third, ... class.

    Privacy
    -------
    No differential privacy: there is no chance involved, and the interval is certain.
    """

    kind: ClassVar[str] = "class"
    width: int | None = None
    edges: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if (self.width is None) == (self.edges is None):
            raise SurveyError("a value class needs its width or its edges, and not both.")
        if self.width is not None and (not _whole(self.width) or self.width < 1):
            raise SurveyError("the width of a value class is a whole number of grid cells, 1 up.")
        if self.edges is not None:
            edges = tuple(self.edges)
            if not edges or not all(map(_whole, edges)) or min(edges) < 1:
                raise SurveyError("the edges of value classes are whole numbers of cells, from 1.")
            if any(a >= b for a, b in pairwise(edges)):
                raise SurveyError("the edges of value classes must grow.")
            object.__setattr__(self, "edges", edges)

    @classmethod
    def of_privacy(cls, attribute: Attribute, percent: float, confidence: float = 0.95) -> Self:
        """Classes that are each wide enough for `percent` privacy of the range."""
        width = ceil(steps_of(attribute, percent, confidence, cls.kind) / confidence - 1e-9)
        classes = attribute.cells // width
        if classes < 2:
            raise SurveyError(
                f"{attribute.name!r}: classes with {percent:g} % privacy leave only one, and "
                "nothing would be told. Ask for less, or for another distortion."
            )
        return cls(edges=tuple(attribute.cells * k // classes for k in range(1, classes)))

    def check(self, attribute: Attribute) -> None:
        column = numeric(attribute, self.kind)
        last = self.edges[-1] if self.edges is not None else self.width or 0
        if last >= column.cells:
            raise SurveyError(
                f"{column.name!r} has {column.cells} grid cells: these classes leave only one, or "
                "one that is empty, and nothing would be told. Choose narrower classes."
            )

    def bounds(self, attribute: Attribute) -> list[int]:
        """First cells of all classes, and the end of the grid."""
        if self.edges is not None:
            return [0, *self.edges, attribute.cells]
        return [*range(0, attribute.cells, self.width or 1), attribute.cells]

    def outputs(self, attribute: Attribute) -> range:
        return range(len(self.bounds(attribute)) - 1)

    def apply(self, attribute: Attribute, codes: IntArray, drawn: IntArray | None) -> IntArray:  # noqa: ARG002 - one signature for all distortions
        return np.searchsorted(self.bounds(attribute), codes, side="right") - 1

    def texts(self, attribute: Attribute) -> Sequence[str]:
        column = numeric(attribute, self.kind)

        def edge(cell: int) -> str:
            return figure(float(column.edge(cell)), 12)

        texts = [
            f"{edge(a)} to {edge(b - 1)}" if column.step is not None else f"[{edge(a)}, {edge(b)})"
            for a, b in pairwise(self.bounds(column))
        ]
        if len(set(texts)) < len(texts):  # the edges differ beyond the digits that are printed
            return [f"class {place}" for place in range(1, len(texts) + 1)]
        return texts

    def privacy(self, attribute: Attribute) -> Privacy:
        """Of the narrowest class: what everybody has at least."""
        column = numeric(attribute, self.kind)
        cells = min(b - a for a, b in pairwise(self.bounds(column)))
        whole = cells * float(column.width)
        widths = (CONFIDENCES[0] * whole, CONFIDENCES[1] * whole, CONFIDENCES[2] * whole)
        percent = 100 * (CONFIDENCES[1] * cells) / span(column)
        words = (
            f"{column.name}: only the class is sent, such as {self.texts(column)[0]}. The true value "
            f"lies in it for certain; the narrowest class has the width {figure(whole)}, which at "
            f"95 % confidence is {figure(percent)} % of the range. No local differential privacy."
        )
        return Privacy(column.name, self.kind, widths, percent, None, words)

    def parameters(self) -> dict[str, Any]:
        if self.edges is not None:
            return {"edges": list(self.edges)}
        return {"width": self.width}

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> Self:
        if "edges" in parameters:
            needed(parameters, cls.kind, "edges")
            if not isinstance(parameters["edges"], list):
                raise SurveyError("the edges of value classes are a list of whole numbers.")
            return cls(edges=tuple(parameters["edges"]))
        needed(parameters, cls.kind, "width")
        return cls(parameters["width"])


@dataclass(frozen=True)
class RandomizedResponse(PureDistortion):
    """k-ary randomized response: the truth with probability e**epsilon / (e**epsilon + k - 1).

    Parameters
    ----------
    epsilon
        Above 0 and at most 64; a number or a text is read as one.

    Privacy
    -------
    `epsilon`-differentially private in the local model, exactly; see `response_table`.
    """

    kind: ClassVar[str] = "response"

    def check(self, attribute: Attribute) -> None:
        if not isinstance(attribute, Categorical):
            raise SurveyError(
                f"{attribute.name!r} is numeric, and response works on lists of values. Use "
                "laplace, which tells more for the same epsilon."
            )
        if attribute.cells < 2:
            raise SurveyError(f"{attribute.name!r} has one value: there is nothing to tell.")

    def table(self, attribute: Attribute) -> LocalTable:
        return response_table(self.epsilon.fraction, attribute.cells)

    def outputs(self, attribute: Attribute) -> range:
        return range(attribute.cells)

    def apply(self, attribute: Attribute, codes: IntArray, drawn: IntArray | None) -> IntArray:
        shift = np.int64(0) if drawn is None else drawn
        return (codes + shift) % attribute.cells

    def kernel_between(self, attribute: Attribute, true: Edges, sent: Edges) -> Kernel:
        truth, lie = (count / WHOLE for count in self.table(attribute).counts[:2])
        same = mapped_kernel(np.arange(attribute.cells), true, sent)
        return (truth - lie) * same + lie * np.diff(sent)[None, :]

    def privacy(self, attribute: Attribute) -> Privacy:
        table = self.table(attribute)
        lies = attribute.cells - 1
        others = f"each of the {lies} others" if lies > 1 else "the other one"
        words = (
            f"{attribute.name}: the true answer is sent with probability "
            f"{figure(table.counts[0] / WHOLE)}, and {others} with probability "
            f"{figure(table.counts[1] / WHOLE)}. "
            f"{epsilon_words(self.epsilon)}"
        )
        exact = loss(response_ratio(table))
        return Privacy(attribute.name, self.kind, None, None, self.epsilon, words, exact)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
