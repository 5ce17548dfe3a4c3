"""From Arrow columns to codes, vectorised: equal to `reference.code_of` value by value.

What a column may hold is decided by its type when the source is opened, never by a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bocage.errors import SourceError
from bocage.schema import DROP, Attribute, Categorical, Numeric, Schema

SMALL = 4096  # rows below which NumPy is faster than loading compiled loops
DENSE = 2**18  # longest table from integers to codes
_DIRECT = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.int32))

Array = NDArray[np.generic]
Flags = NDArray[np.bool_]
# Takes a column of a batch, writes its codes, and marks the rows that it drops.
ColumnEncoder = Callable[[pa.Array, Array, Flags], None]


def refuse_absent(schema: Schema, names: Collection[str]) -> None:
    """Refuse a source that lacks a column of the schema."""
    for column in schema:
        if column.name not in names:
            raise SourceError(
                f"the source has no column {column.name!r}, which schema {schema.name!r} declares. "
                "Its name must be spelled the same, in capitals and small letters too."
            )


def encoder(column: Attribute, kind: pa.DataType) -> ColumnEncoder:
    """The encoder of one column whose source has this type."""
    if pa.types.is_null(kind):
        return lambda array, codes, dropped: _write(np.full(len(array), column.missing_code), codes, dropped)
    if isinstance(column, Numeric):
        if is_number(kind):
            return _grid(column)
        raise SourceError(
            f"column {column.name!r} is numeric in the schema, but the source holds {kind}. "
            "Convert it to a number type, or declare it categorical."
        )
    if pa.types.is_dictionary(kind):
        return _dictionary(column, kind)
    if is_text(kind):
        return _texts(column)
    if pa.types.is_integer(kind):
        return _integers(column, kind)
    if pa.types.is_boolean(kind):
        return from_positions(column, ["false", "true"], column.missing_code)
    raise SourceError(
        f"column {column.name!r} is categorical in the schema, but the source holds {kind}. "
        "Convert it to text, whole numbers or booleans, or declare it numeric."
    )


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def category(column: Categorical, text: str) -> int:
    """The code of a text."""
    if text == column.marker:
        return column.missing_code
    return column.index.get(text, column.outside_code)


def known_texts(column: Categorical) -> list[str]:
    """All texts that do not go the way of every other text."""
    marker = [column.marker] if column.marker is not None else []
    return list(dict.fromkeys([*column.values, *marker]))


def from_positions(column: Categorical, texts: Sequence[str], missing: int, more: Sequence[int] = ()) -> ColumnEncoder:
    """Encode positions in a list of texts, and after it of codes; NULL has the code `missing`."""
    table = np.array([*(category(column, text) for text in texts), *more], np.int32)
    return _table(0, table, column.outside_code, missing)


def _texts(column: Categorical) -> ColumnEncoder:
    texts = known_texts(column)
    few = from_positions(column, texts, column.outside_code)

    @cache
    def many() -> ColumnEncoder:
        from bocage.engine.codes.matching import KnownTexts  # noqa: PLC0415 - small tables load no compiler

        codes = [category(column, text) for text in texts]
        return KnownTexts(texts, codes, column.outside_code).encode

    def find(array: pa.Array, codes: Array, dropped: Flags) -> None:
        if len(array) > SMALL:
            many()(array, codes, dropped)
        else:
            few(pc.index_in(array, value_set=pa.array(texts, array.type)), codes, dropped)

    def encode(array: pa.Array, codes: Array, dropped: Flags) -> None:
        if pa.types.is_string_view(array.type):
            array = array.cast(pa.large_string())
        if array.null_count:
            signed = _signed(find, array)
            signed[_nulls(array)] = column.missing_code
            _write(signed, codes, dropped)
        else:
            find(array, codes, dropped)

    return encode


def _integers(column: Categorical, kind: pa.DataType) -> ColumnEncoder:
    """Integers are matched by their decimal digits, as if printed."""
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    text_of: dict[int, str] = {}
    for text in known_texts(column):
        digits = text.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= 20:
            number = int(text)
            if str(number) == text and low <= number <= high:
                text_of[number] = text
    first, last = min(text_of, default=0), max(text_of, default=0)
    if last - first < DENSE and last < 2**63 - 1:
        table = np.full(last - first + 1, column.outside_code, np.int32)
        for number, text in text_of.items():
            table[number - first] = category(column, text)
        return _table(first, table, column.outside_code, column.missing_code)
    value_set = pa.array(list(text_of), kind)
    look_up = from_positions(column, list(text_of.values()), column.outside_code)

    def encode(array: pa.Array, codes: Array, dropped: Flags) -> None:
        signed = _signed(look_up, pc.index_in(array, value_set=value_set))
        signed[_nulls(array)] = column.missing_code
        _write(signed, codes, dropped)

    return encode


def _dictionary(column: Categorical, kind: pa.DataType) -> ColumnEncoder:
    of_values = encoder(column, kind.value_type)

    def encode(array: pa.DictionaryArray, codes: Array, dropped: Flags) -> None:
        table = _signed(of_values, array.dictionary)
        _table(0, table, column.outside_code, column.missing_code)(array.indices, codes, dropped)

    return encode


def _table(base: int, table: NDArray[np.int32], beyond: int, missing: int) -> ColumnEncoder:
    """Codes of integers from a table that starts at `base`."""

    def encode(array: pa.Array, codes: Array, dropped: Flags) -> None:
        numbers = _whole_numbers(array)
        if array.null_count == 0 and len(numbers) > SMALL:
            from bocage.engine.codes import kernels  # noqa: PLC0415 - small tables load no compiler

            kernels.look_up(numbers, base, table, beyond, codes, dropped)
            return
        wide = numbers.astype(np.int64)
        inside = (wide >= base) & (wide < base + len(table))
        signed = np.full(len(wide), beyond, np.int32)
        signed[inside] = table[wide[inside] - base]
        signed[_nulls(array)] = missing
        _write(signed, codes, dropped)

    return encode


def _grid(column: Numeric) -> ColumnEncoder:
    lower, upper = float(column.lower), float(column.upper)
    per_unit, shift, last = column.per_unit, column.shift, column.cells - 1
    missing, clamp = column.missing_code, column.clamp

    def encode(array: pa.Array, codes: Array, dropped: Flags) -> None:
        numbers = _doubles(array)
        if len(numbers) > SMALL:
            from bocage.engine.codes import kernels  # noqa: PLC0415 - small tables load no compiler

            kernels.grid(numbers, lower, upper, per_unit, shift, last, missing, clamp, codes, dropped)
            return
        absent = np.isnan(numbers)
        inside = np.clip(np.where(absent, lower, numbers), lower, upper)
        signed = np.floor((inside - lower) * per_unit + shift).astype(np.int64)
        signed = np.minimum(signed, last)
        if not clamp:
            signed[(numbers < lower) | (numbers > upper)] = DROP
        signed[absent] = missing
        _write(signed, codes, dropped)

    return encode


def _doubles(array: pa.Array) -> NDArray[np.float64]:
    kind = array.type
    if pa.types.is_decimal(kind):
        # Arrow divides, which may round twice; the digits are converted with one rounding.
        array = array.cast(pa.string())
    if pa.types.is_null(kind) or kind != pa.float64():
        array = array.cast(pa.float64(), safe=False)
    if array.null_count:
        array = array.fill_null(float("nan"))
    numbers: NDArray[np.float64] = array.to_numpy(zero_copy_only=False)
    numbers.flags.writeable = False  # as what Arrow lends: one compiled loop for both
    return numbers


def _whole_numbers(array: pa.Array) -> Array:
    """Integers or booleans as NumPy integers of few types; where NULL, any number."""
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    if array.null_count:
        array = array.fill_null(0)
    numbers: Array = array.to_numpy(zero_copy_only=False)
    if numbers.dtype == np.uint64:
        numbers = np.minimum(numbers, np.uint64(2**63 - 1))
    if numbers.dtype not in _DIRECT:
        numbers = numbers.astype(np.int64)
    numbers.flags.writeable = False
    return numbers


def _nulls(array: pa.Array) -> Flags:
    if array.null_count == 0:
        return np.zeros(len(array), np.bool_)
    nulls: Flags = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _signed(encode: ColumnEncoder, array: pa.Array) -> NDArray[np.int32]:
    codes, dropped = np.empty(len(array), np.uint16), np.zeros(len(array), np.bool_)
    encode(array, codes, dropped)
    return np.where(dropped, DROP, codes.astype(np.int32))


def _write(signed: Array, codes: Array, dropped: Flags) -> None:
    gone = signed < 0  # type: ignore[operator] # an array of integers
    dropped |= gone
    codes[...] = np.where(gone, 0, signed)
