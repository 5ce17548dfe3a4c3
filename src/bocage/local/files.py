"""Distorted records as CSV and Parquet files: what is sent, in the units of the columns."""

from __future__ import annotations

from pathlib import Path

from bocage.errors import SurveyError
from bocage.local.records import Records
from bocage.local.survey import FINGERPRINT, Survey


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
        place = table.column_names.index(FINGERPRINT)
        plain = table.set_column(place, FINGERPRINT, table[FINGERPRINT].cast(pa.string()))
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
