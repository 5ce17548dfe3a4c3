"""Distorted records: codes together with the survey under which they were distorted; as CSV and Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from bocage.errors import ModelError, SurveyError
from bocage.local.distortion import Distortion
from bocage.local.survey import FINGERPRINT, Survey
from bocage.mechanisms import IntArray
from bocage.mechanisms.rng import Randomness
from bocage.model.encode import codes_of, column_of
from bocage.schema import DROP, Attribute, Numeric, number

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Records:
    """Records as they are sent. Nothing of the true answers is in here.

    Attributes
    ----------
    survey
        The survey that they answer; records of different surveys are never mixed.
    codes
        For every column the codes that were sent, in the order of the records.
    """

    survey: Survey
    codes: dict[str, IntArray]

    def __post_init__(self) -> None:
        for attribute, distortion in self.survey:
            if attribute.name not in self.codes:
                raise SurveyError(f"the records have no column {attribute.name!r}.")
            codes = np.asarray(self.codes[attribute.name], dtype=np.int64)
            sent = distortion.outputs(attribute)
            if len(codes) and not (codes.min() >= sent.start and codes.max() < sent.stop):
                raise SurveyError(
                    f"{attribute.name!r}: a record has what this survey cannot send: "
                    f"{distortion.kind} sends the codes {sent.start} .. {sent.stop - 1}."
                )
            self.codes[attribute.name] = codes
        if len({len(codes) for codes in self.codes.values()}) > 1:
            raise SurveyError("the columns of the records differ in length.")

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))

    @classmethod
    def distort(cls, survey: Survey, rows: Any, random: Randomness | None = None) -> Records:
        """Distort a table of true answers; see `Survey.distort`.

        A table is an Arrow table, a pandas or polars frame, or a mapping of columns.
        """
        return cls(survey, survey.distort(true_codes(survey, rows), random))

    @classmethod
    def join(cls, parts: Sequence[Records]) -> Records:
        """All records of several lots; refused if they were distorted under different surveys."""
        if not parts:
            raise SurveyError("there are no records.")
        survey = parts[0].survey
        _refuse_others(survey, (part.survey.fingerprint for part in parts))
        names = [attribute.name for attribute in survey.schema]
        return cls(survey, {name: np.concatenate([p.codes[name] for p in parts]) for name in names})

    def to_table(self) -> pa.Table:
        """The records in the units of their columns, each with the fingerprint of its survey."""
        import pyarrow as pa  # noqa: PLC0415 - importing this module loads no Arrow

        columns: dict[str, Any] = {}
        for attribute, distortion in self.survey:
            codes = self.codes[attribute.name]
            texts = distortion.texts(attribute)
            if texts is not None:
                columns[attribute.name] = pa.array(np.asarray(texts, dtype=object)[codes], pa.string())
            else:
                columns[attribute.name] = pa.array(_numbers(attribute, codes))
        mark = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(len(self), np.int32)), pa.array([self.survey.fingerprint])
        )
        return pa.table({**columns, FINGERPRINT: mark})

    @classmethod
    def from_table(cls, survey: Survey, rows: Any) -> Records:
        """Read a table that `to_table` made; refuse records of another survey."""
        marks = {value.as_py() for value in _column(rows, FINGERPRINT).unique()}
        _refuse_others(survey, marks)
        return cls(survey, {a.name: _sent(a, d, _column(rows, a.name)) for a, d in survey})

    def to_documents(self) -> list[dict[str, Any]]:
        """The records as JSON objects, as the JavaScript module makes them."""
        names = list(self.codes)
        return [
            {"survey": self.survey.fingerprint, "answers": dict(zip(names, codes, strict=True))}
            for codes in zip(*(array.tolist() for array in self.codes.values()), strict=True)
        ]

    @classmethod
    def from_documents(cls, survey: Survey, documents: Iterable[Any]) -> Records:
        """Read records that Python or JavaScript made; refuse those of another survey."""
        names = [attribute.name for attribute in survey.schema]
        columns: dict[str, list[int]] = {name: [] for name in names}
        for document in documents:
            if not isinstance(document, dict) or set(document) != {"survey", "answers"}:
                raise SurveyError('a record is an object with "survey" and "answers".')
            _refuse_others(survey, [document["survey"]])
            answers = document["answers"]
            if not isinstance(answers, dict) or set(answers) != set(names):
                raise SurveyError(f"the answers of a record are those to {', '.join(names)}.")
            for name in names:
                code = answers[name]
                if isinstance(code, bool) or not isinstance(code, int) or abs(code) > 2**31:
                    raise SurveyError(f"{name!r}: a code is a whole number, not {short(code)}.")
                columns[name].append(code)
        return cls(survey, {name: np.array(column, np.int64) for name, column in columns.items()})


def true_codes(survey: Survey, rows: Any) -> dict[str, IntArray]:
    """The codes of true answers. What the survey does not ask for is refused, not clamped."""
    return {attribute.name: _true(attribute, _column(rows, attribute.name)) for attribute in survey.schema}


def _true(attribute: Attribute, array: pa.Array) -> IntArray:
    strict = replace(attribute, clamp=False) if isinstance(attribute, Numeric) else attribute
    try:
        codes = codes_of(strict, array)
    except ModelError as error:
        raise SurveyError(str(error)) from None
    if (codes == DROP).any():
        asked = (
            f"a number from {number(attribute.lower)} to {number(attribute.upper)}"
            if isinstance(attribute, Numeric)
            else f"one of {short(list(attribute.values))}"
        )
        raise SurveyError(
            f"{attribute.name!r}: an answer is missing or outside what the survey asks for, which "
            f"is {asked}. Nothing was sent."
        )
    return codes.astype(np.int64)


def _sent(attribute: Attribute, distortion: Distortion, array: pa.Array) -> IntArray:
    """The codes of a column that was sent."""
    texts = distortion.texts(attribute)
    wrong = SurveyError(f"{attribute.name!r}: a record has what this survey cannot send.")
    if texts is not None:
        place = {text: code for code, text in enumerate(texts)}
        coded = array if hasattr(array, "dictionary") else array.dictionary_encode()
        known = [place.get(str(value), -1) for value in coded.dictionary.to_pylist()]
        if coded.null_count or -1 in known:
            raise wrong
        codes: IntArray = np.array(known, np.int64)[coded.indices.to_numpy(zero_copy_only=False)]
        return codes
    if not isinstance(attribute, Numeric):
        raise wrong
    try:
        numbers = array.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    except (ValueError, NotImplementedError):  # what Arrow raises for text that is no number
        raise wrong from None
    place_of = (numbers - float(attribute.value(0))) / float(attribute.width)
    if not np.isfinite(place_of).all() or (np.abs(place_of - np.rint(place_of)) > 1e-3).any():
        raise wrong
    return np.asarray(np.rint(place_of), dtype=np.int64)


def _numbers(attribute: Attribute, codes: IntArray) -> Any:
    if not isinstance(attribute, Numeric):
        raise SurveyError(f"{attribute.name!r} has no numbers.")
    different, place = np.unique(codes, return_inverse=True)
    return np.array([float(attribute.value(code)) for code in different.tolist()])[place]


def _column(rows: Any, name: str) -> pa.Array:
    try:
        return column_of(rows, name)
    except ModelError:
        raise SurveyError(f"the table must have the column {name!r}, once, and of one type.") from None


def _refuse_others(survey: Survey, marks: Iterable[Any]) -> None:
    others = set(marks) - {survey.fingerprint}
    if others:
        raise SurveyError(
            f"some records were distorted under another survey ({short(str(others.pop()))}), and "
            f"this one is {survey.fingerprint[:12]}… (edition {survey.edition}). Their noise may "
            "differ: work with the records of each survey on their own."
        )


def write_records(records: Records, path: str | Path) -> None:
    """Write records to a file whose name ends in .csv or .parquet; every row names its survey."""
    import pyarrow as pa  # noqa: PLC0415 - importing this module loads no Arrow
    import pyarrow.csv as pc  # noqa: PLC0415 - likewise
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    path = Path(path)
    table = records.to_table()
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        column = table.column_names.index(FINGERPRINT)
        plain = table.set_column(column, FINGERPRINT, table[FINGERPRINT].cast(pa.string()))
        pc.write_csv(plain, path)
    else:
        raise SurveyError(f"{path}: records are written as .csv or .parquet.")


def read_records(survey: Survey, path: str | Path) -> Records:
    """Read records that `write_records` wrote; refuse those of another survey."""
    import pyarrow as pa  # noqa: PLC0415 - importing this module loads no Arrow
    import pyarrow.csv as pc  # noqa: PLC0415 - likewise
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    path = Path(path)
    if not path.is_file():
        raise SurveyError(f"{path} is not a file.")
    kinds = {FINGERPRINT: pa.string()} | {
        attribute.name: pa.float64() if distortion.texts(attribute) is None else pa.string()
        for attribute, distortion in survey
    }
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(path)
        elif path.suffix == ".csv":
            convert = pc.ConvertOptions(column_types=kinds, strings_can_be_null=False)
            table = pc.read_csv(path, convert_options=convert)
        else:
            raise SurveyError(f"{path}: records are read from .csv or .parquet.")
    except (pa.ArrowException, OSError):
        raise SurveyError(
            f"{path} cannot be read as records of this survey: it is not in the format that its "
            "name says, or a number is none."
        ) from None
    try:
        return Records.from_table(survey, table)
    except SurveyError as error:
        raise SurveyError(f"{path}: {error}") from None
