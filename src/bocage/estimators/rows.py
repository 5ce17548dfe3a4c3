"""What scikit-learn passes around, X and y, as named columns and back."""

# ruff: noqa: N803
# X is scikit-learn's name.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from bocage.errors import EstimatorError
from bocage.schema import Categorical, Schema

Columns = dict[str, Any]


def names_of(X: Any) -> list[str] | None:
    """The names of the columns of a frame; None for an array, whose columns have none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return list(names)


def checked(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
    """Check the form of X, and of y if it is given, as scikit-learn does.

    Values of X are not looked at: what is missing or outside goes where the schema says.
    """
    alone = isinstance(y, str)
    if names_of(X) is None:
        validated = validate_data(estimator, X, y, reset=reset, dtype=None, ensure_all_finite=False)
    else:
        target = y if alone else validate_data(estimator, y=y, reset=reset)
        validated = validate_data(estimator, X, target, reset=reset, skip_check_array=True)
    if not alone:
        check_consistent_length(*validated)
        check_classification_targets(validated[1])
    return validated


def columns(X: Any, schema: Schema) -> Columns:
    """The attributes of a schema from a frame by name, or from an array by position."""
    wanted = [attribute.name for attribute in schema.attributes]
    names = names_of(X)
    if names is None:
        if X.shape[1] != len(wanted):
            raise EstimatorError(
                f"X has {X.shape[1]} columns without names, but schema {schema.name!r} declares "
                f"{len(wanted)} attributes. Give them in the order of the schema, or give a frame."
            )
        array = np.asarray(X)
        return {
            attribute.name: _of_array(array[:, at], isinstance(attribute, Categorical))
            for at, attribute in enumerate(schema.attributes)
        }
    absent = [name for name in wanted if name not in names]
    if absent:
        raise EstimatorError(f"X has no column {absent[0]!r}, which schema {schema.name!r} declares.")
    return {name: _of_frame(X[name]) for name in wanted}


def _of_frame(column: Any) -> Any:
    return column.to_arrow() if hasattr(column, "to_arrow") else column  # polars


def _of_array(column: NDArray[Any], categorical: bool) -> Any:
    """A column of an array. In an array of floats the whole numbers of a categorical column are
    floats too; they are meant as whole numbers.
    """
    if not categorical or column.dtype.kind != "f":
        return column
    different, codes = np.unique(column, return_inverse=True)
    texts = [None if np.isnan(x) else str(int(x)) if float(x).is_integer() else repr(float(x)) for x in different]
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(texts, pa.string()))


def labels(y: NDArray[Any]) -> NDArray[Any]:
    """The labels as the schema knows them: text, or whole numbers and booleans that print as it."""
    return y.astype(np.int64) if y.dtype.kind == "f" else y


def classes(values: Sequence[str], y: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The declared labels in the type of y and sorted, and the code of each."""
    kind = "U" if y is None else y.dtype.kind
    try:
        declared = np.array([_CONVERT[kind](value) for value in values])
    except (KeyError, ValueError):
        raise EstimatorError(
            f"y holds {y.dtype if y is not None else 'text'}, but the labels that the schema "
            f"declares are {', '.join(map(repr, values[:5]))}. Convert y, or the schema."
        ) from None
    if kind == "O":
        declared = declared.astype(object)
    order = np.argsort(declared)
    return declared[order], order


def _boolean(value: str) -> bool:
    if value not in {"false", "true"}:
        raise ValueError
    return value == "true"


_CONVERT: dict[str, Callable[[str], Any]] = {
    "U": str,
    "O": str,
    "T": str,
    "i": int,
    "u": int,
    "f": float,
    "b": _boolean,
}
