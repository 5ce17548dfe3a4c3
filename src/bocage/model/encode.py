"""From tables with raw values to codes: the one place where a model meets foreign tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.schema import DROP, Attribute, Categorical, Numeric, Schema

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int32]


def encode(schema: Schema, rows: Any, columns: Sequence[str]) -> dict[str, Ints]:
    """The codes of some columns of a table.

    What a column may hold is decided by its type, never by a value: a categorical column is text,
    whole numbers or booleans, a numeric column is numbers.
    """
    names = columns or _names(rows)[:1]  # a model without tests still answers once per row
    arrays = {name: column_of(rows, name) for name in names}
    if len({len(array) for array in arrays.values()}) > 1:
        raise ModelError("the columns differ in length.")
    if not columns:
        return {name: np.zeros(len(array), np.int32) for name, array in arrays.items()}
    return {name: codes_of(schema[name], array) for name, array in arrays.items()}


def codes_of(column: Attribute, array: pa.Array) -> Ints:
    """The codes of one Arrow column."""
    import pyarrow as pa  # noqa: PLC0415 - importing a model loads no Arrow

    if pa.types.is_null(array.type):
        return np.full(len(array), column.missing_code, np.int32)
    if isinstance(column, Numeric):
        return _grid(column, array)
    return _categories(column, array)


def _names(rows: Any) -> list[str]:
    if isinstance(rows, Mapping):
        return list(rows)
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    if names is None:
        raise ModelError(
            f"a {type(rows).__name__} is no table with named columns. Give an Arrow table, a pandas "
            "or polars frame, or a mapping from column names to values."
        )
    return list(names)


def column_of(rows: Any, name: str) -> pa.Array:
    """One column of a table, as Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - importing a model loads no Arrow

    if _names(rows).count(name) != 1:
        raise ModelError(f"the model looks at column {name!r}, which is not there exactly once.")
    values = rows[name]
    if hasattr(values, "to_arrow"):  # polars
        values = values.to_arrow()
    if isinstance(values, pa.ChunkedArray):
        return _joined(values)
    if isinstance(values, pa.Array):
        return values
    try:
        array = pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError):
        raise ModelError(
            f"column {name!r} is not of one type. Convert it to text, whole numbers, booleans or "
            "floating-point numbers first."
        ) from None
    return _joined(array) if isinstance(array, pa.ChunkedArray) else array


def _joined(chunks: pa.ChunkedArray) -> pa.Array:
    return chunks.unify_dictionaries().combine_chunks()


def _categories(column: Categorical, array: pa.Array) -> Ints:
    """Find the code of every different value once."""
    import pyarrow as pa  # noqa: PLC0415 - importing a model loads no Arrow

    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    kind = array.type.value_type
    if not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    ):
        raise ModelError(
            f"column {column.name!r} is categorical, but {kind} was given. Convert it to text, "
            "whole numbers or booleans."
        )
    table = [_category(column, value) for value in array.dictionary.to_pylist()]
    indices = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    codes = np.array([*table, column.missing_code], np.int32)
    encoded: Ints = codes[indices]
    return encoded


def _category(column: Categorical, value: str | bool | int | None) -> int:
    if value is None:
        return column.missing_code
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if text == column.marker:
        return column.missing_code
    return column.index.get(text, column.outside_code)


def _grid(column: Numeric, array: pa.Array) -> Ints:
    import pyarrow as pa  # noqa: PLC0415 - importing a model loads no Arrow

    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise ModelError(f"column {column.name!r} is numeric, but {kind} was given. Convert it to numbers.")
    if pa.types.is_decimal(kind):
        array = array.cast(pa.string())  # digits become a double with one rounding
    numbers = array.cast(pa.float64(), safe=False).fill_null(float("nan"))
    x = numbers.to_numpy(zero_copy_only=False)
    lower, upper = float(column.lower), float(column.upper)
    y = np.clip(x, lower, upper)  # what is not a number stays so
    y -= lower
    y *= column.per_unit
    y += column.shift
    absent = np.isnan(x)
    if absent.any():
        y[absent] = 0.0
    codes: Ints = np.minimum(y.astype(np.int32), np.int32(column.cells - 1))  # y >= 0: the floor
    if not column.clamp:
        codes[(x < lower) | (x > upper)] = DROP
    codes[absent] = column.missing_code
    return codes
