"""What a tree and a forest have in common: they predict a label from the columns of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocage.errors import ModelError
from bocage.model.certificate.certificate import Certificate
from bocage.model.encode import encode
from bocage.schema import Categorical, Schema

Codes = Mapping[str, ArrayLike]


class Model(ABC):
    """A frozen model. It holds released values only: no row, no exact count.

    Privacy
    -------
    Everything a model does is post-processing of what its certificate accounts for.
    """

    schema: Schema
    certificate: Certificate

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that the model looks at; others need not be given."""

    @abstractmethod
    def predict_codes(self, codes: Codes) -> NDArray[np.int32]:
        """The label code of every row, from codes of the columns.

        A code of -1 (missing or outside, where the schema says to drop such rows) stops the way
        through a tree at the node that asks for it, and this node decides.
        """

    @abstractmethod
    def predict_proba_codes(self, codes: Codes) -> NDArray[np.float64]:
        """The share of every label for every row, from codes of the columns."""

    def predict(self, rows: Any) -> NDArray[np.object_]:
        """The label of every row, as text.

        Parameters
        ----------
        rows
            A pandas, polars or Arrow table, or a mapping from names to columns, with raw values.
        """
        labels = np.array(self.label_attribute.values, dtype=object)
        return labels[self.predict_codes(self.encode(rows))]

    def predict_proba(self, rows: Any) -> NDArray[np.float64]:
        """The share of every label, in the order of the schema, for every row of a table."""
        return self.predict_proba_codes(self.encode(rows))

    def encode(self, rows: Any) -> dict[str, NDArray[np.int32]]:
        """The codes of the columns that the model looks at."""
        return encode(self.schema, rows, self.columns)

    @property
    def label_attribute(self) -> Categorical:
        """The column that is predicted."""
        return label_of(self.schema)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        from bocage.model.export.json import to_dict  # noqa: PLC0415 - it builds on this class

        return to_dict(self)

    def save(self, path: str | Path) -> None:
        """Write a JSON file that :func:`bocage.model.load` reads; all of it or nothing."""
        from bocage.model.export.json import save  # noqa: PLC0415 - it builds on this class

        save(self, path)

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """Read what `to_dict` wrote; refuse anything else."""
        from bocage.model.export.json import from_dict  # noqa: PLC0415 - it builds on this class

        return cls._of_kind(from_dict(document))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` wrote; refuse anything else."""
        from bocage.model.export.json import load  # noqa: PLC0415 - it builds on this class

        return cls._of_kind(load(path))

    @classmethod
    def _of_kind(cls, model: Model) -> Self:
        if not isinstance(model, cls):
            raise ModelError(f"this is a {type(model).__name__}, not a {cls.__name__}.")
        return model

    def _matrix(self, codes: Codes) -> tuple[NDArray[np.int32], int]:
        """The codes of the model's columns, checked, one row of the matrix each; and the rows."""
        given = {name: np.asarray(codes[name]) for name in self.columns if name in codes}
        for name in self.columns:
            if name not in given:
                raise ModelError(f"the model looks at column {name!r}, which is not given.")
        lengths = {len(column) for column in (given or dict(codes)).values()}  # type: ignore[arg-type] # an ArrayLike has a length here
        if len(lengths) != 1:
            raise ModelError("the columns differ in length." if lengths else "no column is given.")
        rows = lengths.pop()
        matrix = np.empty((len(given), rows), np.int32)
        for i, (name, code) in enumerate(given.items()):
            cells = self.schema[name].cells
            if code.ndim != 1 or not (code.dtype.kind in "iu" or rows == 0):
                raise ModelError(f"the codes of {name!r} are not a column of whole numbers.")
            if rows and not -1 <= int(code.min()) <= int(code.max()) < cells:
                raise ModelError(f"codes of {name!r} lie in -1..{cells - 1}.")
            matrix[i] = code
        return matrix, rows


def label_of(schema: Schema) -> Categorical:
    if schema.label is None:
        raise ModelError(f"schema {schema.name!r} declares no label, so nothing can be predicted.")
    return schema.label
