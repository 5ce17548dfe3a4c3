"""How an attribute is distributed among people, estimated from what they sent."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocage.errors import LearnerError
from bocage.local.discrete import ValueClass
from bocage.local.intervals import (
    FewRecords,
    Intervals,
    few_records,
    number_of_intervals,
    partition,
)
from bocage.local.kernel import Edges
from bocage.local.reconstruct import Stop, reconstruct
from bocage.local.records import Records
from bocage.schema import Attribute, Categorical, Numeric, number

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distribution:
    """One attribute, for all records or for those of a label.

    Attributes
    ----------
    attribute
        The column.
    label
        The label whose records these are, as it was sent; None for all.
    edges
        Interval i holds the codes ``edges[i] .. edges[i + 1] - 1``.
    sent
        The share of answers in each interval, as they were sent. Answers outside the domain are in
        none, so these may add up to less than 1.
    shares
        The estimated share of true values in each interval.
    records, steps
        How many records there were, and how many steps the reconstruction took.
    """

    attribute: Attribute
    label: str | None
    edges: Edges
    sent: Floats
    shares: Floats
    records: int
    steps: int

    def text(self, interval: int) -> str:
        """What an interval holds, in the unit of the attribute."""
        if isinstance(self.attribute, Categorical):
            return self.attribute.values[interval]
        low, high = self.edges[interval], self.edges[interval + 1]
        if self.attribute.step is not None:
            first, last = (number(self.attribute.edge(int(code))) for code in (low, high - 1))
            return first if first == last else f"{first} to {last}"
        return f"[{number(self.attribute.edge(int(low)))}, {number(self.attribute.edge(int(high)))})"

    def middles(self) -> Floats:
        """The middle of every interval of a numeric attribute."""
        if not isinstance(self.attribute, Numeric):
            raise LearnerError(f"{self.attribute.name!r} is a list of values and has no middles.")
        first, width = float(self.attribute.edge(0)), float(self.attribute.width)
        return np.asarray(first + (self.edges[:-1] + self.edges[1:]) / 2 * width, np.float64)


def distributions(
    records: Records,
    columns: Sequence[str] | None = None,
    *,
    intervals: int | None = None,
    stop: Stop = "chi_square",
    by_label: bool = False,
) -> list[Distribution]:
    """Reconstruct the distribution of attributes (Agrawal & Srikant 2000, section 3).

    Parameters
    ----------
    records
        What people sent, all under one survey.
    columns
        The attributes; None for all, without the label.
    intervals
        How many intervals a number has. None: 100 records in each, but 10 to 100.
    stop
        ``"chi_square"``, the paper's rule, or ``"convergence"``.
    by_label
        Whether to do it for the records of each label by themselves.

    Privacy
    -------
    Post-processing of what people sent.
    """
    survey = records.survey
    asked = [attribute.name for attribute in survey.schema.attributes]
    if not len(records):
        raise LearnerError("there are no records to reconstruct from.")
    label = survey.schema.label
    if by_label and label is None:
        raise LearnerError(f"survey {survey.schema.name!r} asks for no label.")
    groups: list[tuple[str | None, NDArray[np.bool_]]] = [(None, np.ones(len(records), bool))]
    if by_label and label is not None:
        sent = records.codes[label.name]
        groups = [(value, sent == code) for code, value in enumerate(label.values)]
    estimates = []
    for name in asked if columns is None else columns:
        if name not in survey.schema.by_name:
            raise LearnerError(
                f"survey {survey.schema.name!r} does not ask for {name!r:.60}. It asks for "
                f"{', '.join(map(repr, asked))}."
            )
        wanted = intervals or number_of_intervals(len(records))
        if isinstance(survey.schema[name], Numeric) and few_records(len(records), wanted):
            warnings.warn(few_records(len(records), wanted), FewRecords, stacklevel=2)
        parts = partition(survey.schema[name], survey.distortions[name], wanted)
        estimates += [_distribution(records, name, parts, stop, *group) for group in groups]
    return estimates


def _distribution(  # noqa: PLR0917 - one call, above
    records: Records,
    name: str,
    parts: Intervals,
    stop: Stop,
    label: str | None,
    rows: NDArray[np.bool_],
) -> Distribution:
    attribute, distortion = records.survey.schema[name], records.survey.distortions[name]
    codes = records.codes[name][rows]
    lowest = distortion.outputs(attribute).start
    counts = np.bincount(parts.place[codes - lowest], minlength=parts.answers)
    result = reconstruct(counts, parts.kernel, stop)
    if isinstance(distortion, ValueClass):  # a class is sent, which lies in the middle of its cells
        bounds = np.array(distortion.bounds(attribute))
        codes = ((bounds[:-1] + bounds[1:] - 1) // 2)[codes]
    sent = np.histogram(codes[(codes >= 0) & (codes < attribute.cells)], parts.edges)[0]
    share = sent / max(len(codes), 1)
    return Distribution(attribute, label, parts.edges, share, result.shares[0], len(codes), int(result.steps[0]))
