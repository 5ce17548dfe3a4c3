"""A released additive model: one small table of scores per term, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.model.base import Codes, Model
from bocage.model.bins import Cuts, fits, lookup, starts_of
from bocage.model.certificate.certificate import Certificate
from bocage.model.tree.shape import MOST_ENTRIES
from bocage.model.tree.shape import labels as number_of_labels
from bocage.schema import Attribute, Schema

UNIT = 2**10  # scores are whole numbers of 1/UNIT
MOST_SCORE = 2**32
MOST_TERMS = 2**12
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Term:
    """The scores of one column, or of several together.

    Parameters
    ----------
    columns
        The columns, in the order in which their cells are counted.
    cells
        For each column the number of runs into which its codes are put together.
    scores
        For every combination of cells, the last column's fastest, the score of each label.
    cuts
        For each column the codes at which its cells but the first begin, or none if they are of
        equal length; empty if all are.
    """

    columns: tuple[str, ...]
    cells: tuple[int, ...]
    scores: Ints
    cuts: tuple[Cuts, ...] = ()

    def __reduce__(self) -> Any:
        return type(self), (self.columns, self.cells, self.scores, self.cuts)

    def lookup(self, schema: Schema) -> list[Ints]:
        """For each column the cell of each code."""
        return lookup(schema, self.columns, self.cells, self.cuts)

    def accepted(self, schema: Schema, cell: int) -> list[tuple[Attribute, range]]:
        """For each column the codes of a cell."""
        ranges = []
        cuts = self.cuts or ((),) * len(self.columns)
        for name, cells, term_cuts in reversed(list(zip(self.columns, self.cells, cuts, strict=True))):
            cell, at = divmod(cell, cells)
            edges = (0, *starts_of(schema[name], cells, term_cuts), schema[name].cells)
            ranges.append((schema[name], range(edges[at], edges[at + 1])))
        return ranges[::-1]


@dataclass(frozen=True, eq=False)
class AdditiveModel(Model):
    """Scores that add up: the label with the largest sum is predicted.

    The sums are whole numbers, so that they are the same everywhere. Divided by `UNIT` they are
    logarithms of odds: the shares of the labels are proportional to their exponentials.

    Parameters
    ----------
    schema
        What is public.
    intercept
        The score that each label has before a column is looked at.
    terms
        In the order of their importance or of the schema; any order predicts the same.
    certificate
        What was guaranteed.
    """

    schema: Schema
    intercept: Ints
    terms: tuple[Term, ...]
    certificate: Certificate

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercept", _frozen(self.intercept))
        terms = tuple(replace(term, scores=_frozen(term.scores)) for term in self.terms)
        object.__setattr__(self, "terms", terms)
        labels = number_of_labels(self.schema)
        if not 1 <= len(terms) <= MOST_TERMS:
            raise ModelError(f"an additive model has 1 to {MOST_TERMS} terms, not {len(terms)}.")
        if self.intercept.shape != (labels,):
            raise ModelError(f"an additive model of {labels} labels needs as many intercepts.")
        for term in terms:
            _check(term, self.schema, labels)
        for scores in (self.intercept, *(term.scores for term in terms)):
            if np.abs(scores).max() > MOST_SCORE:
                raise ModelError(f"a score lies within {MOST_SCORE} of 0.")
        if self.certificate.schema != self.schema.fingerprint:
            raise ModelError("the certificate of the model belongs to another schema.")

    def __reduce__(self) -> Any:
        return type(self), (self.schema, self.intercept, self.terms, self.certificate)

    def __len__(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        used = {name for term in self.terms for name in term.columns}
        return tuple(column.name for column in self.schema.attributes if column.name in used)

    def sums(self, codes: Codes) -> Ints:
        """The sum of the scores of every label, for every row.

        A code of -1 (missing or outside, where the schema says to drop such rows) leaves out the
        terms that look at it.
        """
        matrix, rows = self._matrix(codes)
        line = {name: i for i, name in enumerate(self.columns)}
        sums = np.tile(self.intercept, (rows, 1))
        for term in self.terms:
            cell, present = np.zeros(rows, np.int64), np.ones(rows, bool)
            for name, size, table in zip(term.columns, term.cells, term.lookup(self.schema), strict=True):
                code = matrix[line[name]]
                present &= code >= 0
                cell = cell * size + table[code]
            sums += np.where(present[:, None], term.scores[cell], 0)
        return sums

    def predict_codes(self, codes: Codes) -> NDArray[np.int32]:
        return cast("NDArray[np.int32]", self.sums(codes).argmax(axis=1).astype(np.int32))

    def predict_proba_codes(self, codes: Codes) -> NDArray[np.float64]:
        sums = self.sums(codes)
        weights = np.exp((sums - sums.max(axis=1, keepdims=True)) / UNIT)
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def effects(self, term: Term) -> NDArray[np.float64]:
        """What a term adds to the logarithm of the odds, of shape (cells, shown labels).

        With two labels: of the second against the first. With more: of each label, against the mean
        of all of them.
        """
        scores: NDArray[np.float64] = term.scores / UNIT
        two = scores.shape[1] == 2
        start = scores[:, :1] if two else scores.mean(axis=1, keepdims=True)
        against: NDArray[np.float64] = scores[:, int(two) :] - start
        return against

    @property
    def shown_labels(self) -> tuple[str, ...]:
        """The labels of the columns of `effects`."""
        values = self.label_attribute.values
        return values[1:] if len(values) == 2 else values

    def by_importance(self) -> list[Term]:
        """The terms with the largest differences between their cells first."""
        return sorted(self.terms, key=lambda term: -float(np.ptp(self.effects(term), axis=0).max()))


def _check(term: Term, schema: Schema, labels: int) -> None:
    names = {column.name for column in schema.attributes}
    if not term.columns or len(set(term.columns)) < len(term.columns) or not names >= {*term.columns}:
        raise ModelError("a term looks at different columns of the schema, one at least.")
    cuts = term.cuts or ((),) * len(term.columns)
    fit = len(term.cells) == len(cuts) == len(term.columns) and all(
        fits(schema[name], cells, term_cuts)
        for name, cells, term_cuts in zip(term.columns, term.cells, cuts, strict=True)
    )
    if not fit or prod(term.cells) * labels > MOST_ENTRIES:
        raise ModelError(f"the term of {term.columns[0]!r} does not fit the cells of its columns.")
    if term.scores.shape != (prod(term.cells), labels):
        raise ModelError(f"the term of {term.columns[0]!r} needs a score for each cell and label.")


def _frozen(values: Sequence[Any] | Ints) -> Ints:
    array = np.array(values, np.int64)
    array.flags.writeable = False
    return array
