"""What a file holds, for the owner's eyes only: a draft of its schema, and a check against one.

Both look at the data without noise and without a charge. Nothing that they return or print may be
shown to an analyst or published; neither is reachable through the privacy layer.
"""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bocage.engine.files.relation import FED, exactly, identifier, literal, parquet, stripped
from bocage.engine.files.text import Text, open_text
from bocage.errors import SchemaError, SourceError
from bocage.schema import DROP, MOST_CELLS, Attribute, Categorical, Layout, Numeric, Schema

EYES = "For the owner's eyes only: these are exact numbers from the data, without noise. Do not publish them."
SIGNING = (
    "This is a DRAFT made from the data. Bounds and values taken from data leak: the largest income "
    "in the file is somebody's income. Replace them by what the columns can mean. Signing the schema "
    "(removing the line draft = true) declares every domain in it public."
)
FEW = 20  # at most this many different whole numbers are taken for categories
_TABLES = {"attributes", "target", "notes"}
MOST_DRAFTED = 1000  # more different texts look like names or identifiers
INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
NUMBERS = INTEGERS | {"FLOAT", "DOUBLE", "DECIMAL"}


def draft_schema(path: str | Path, name: str | None = None, label: str | None = None) -> dict[str, Any]:
    """Draft a schema document from a Parquet or CSV file. For the owner's eyes only.

    The document has ``draft = true`` and is refused by `Schema.read` until the owner has reviewed it
    and removed that line.

    Privacy
    -------
    None: domains are the observed ones. They become public by the owner's decision, not by ours.
    """
    with FileLook(Path(path)) as scan:
        if label is not None and label not in scan.types:
            raise SourceError(f"the file has no column {label!r} that could be the label.")
        notes = [SIGNING]
        attributes = []
        target = None
        for column, kind in scan.types.items():
            try:
                entry = _draft_column(scan, column, kind)
            except SchemaError as error:
                notes.append(f"column {column!r} is left out: {error}")
                continue
            if column == label:
                target = entry
            else:
                attributes.append(entry)
        if label is not None and (target is None or target["type"] != "categorical"):
            raise SchemaError(f"the label {label!r} must be categorical, with a short list of values.")
        document = {"draft": True, "name": name or Path(path).name.split(".")[0], "notes": notes}
        document |= scan.layout.to_dict()
        document["attributes"] = attributes
        if target is not None:
            document["target"] = target
        return document


def _draft_column(scan: FileLook, column: str, kind: str) -> dict[str, Any]:
    """One entry of a draft; a column that no entry describes well is refused."""
    x = identifier(column)
    if kind == "BOOLEAN":
        return {"name": column, "type": "categorical", "values": ["false", "true"]}
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        return _draft_values(scan, column, f"CAST({x} AS VARCHAR)", MOST_DRAFTED)
    if kind.split("(", maxsplit=1)[0] not in NUMBERS:
        raise SchemaError(f"its type {kind} is neither text nor number.")
    whole = kind in INTEGERS
    finite = "TRUE" if whole or kind.startswith("DECIMAL") else f"isfinite({x})"
    different, low, high = scan.row(f"SELECT count(DISTINCT {x}), min({x}), max({x}) FROM {scan.source} WHERE {finite}")
    if different == 0:
        raise SchemaError("it holds no value.")
    if whole and different <= FEW:
        return _draft_values(scan, column, x, FEW)
    entry: dict[str, Any] = {"name": column, "type": "numeric"}
    if whole:
        entry |= {"lower": int(low), "upper": int(high)}
        if entry["upper"] - entry["lower"] < MOST_CELLS:
            entry["step"] = 1
    else:
        entry |= {"lower": float(low), "upper": float(high) if low < high else float(low) + 1}
    Numeric(column, entry["lower"], entry["upper"], step=entry.get("step"))  # refuses bad grids
    return entry


def _draft_values(scan: FileLook, column: str, x: str, most: int) -> dict[str, Any]:
    rows = scan.rows(
        f"SELECT CAST(v AS VARCHAR) FROM (SELECT DISTINCT {x} AS v FROM {scan.source}) "
        f"WHERE v IS NOT NULL ORDER BY v LIMIT {most + 1}"
    )
    if len(rows) > most:
        raise SchemaError(f"it has more than {most} different values.")
    values = [str(row[0]) for row in rows]
    Categorical(column, tuple(values))  # refuses an empty list
    return {"name": column, "type": "categorical", "values": values}


@dataclass(frozen=True)
class ColumnCheck:
    """Exact numbers of rows in which one column is missing, outside its domain, or drops the row."""

    name: str
    type: str
    missing: int
    outside: int
    dropped: int
    problem: str = ""


@dataclass(frozen=True)
class FileCheck:
    """How a file fits a schema. For the owner's eyes only; must not be published."""

    rows: int
    dropped: int
    over_cap: bool
    columns: tuple[ColumnCheck, ...]
    undeclared: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """Why a table would not open; empty if it would."""
        problems = [f"column {c.name!r}: {c.problem}" for c in self.columns if c.problem]
        return [*problems, "the file holds more rows than the row cap."] if self.over_cap else problems


def check_file(path: str | Path, schema: Schema) -> FileCheck:
    """Count where a Parquet or CSV file leaves the domains of a schema. For the owner's eyes only.

    Privacy
    -------
    None: the numbers are exact. They must not be published or shown to an analyst.
    """
    with FileLook(Path(path), schema.layout) as scan:
        problems = {column.name: _problem(column, scan) for column in schema}
        counted = [column for column in schema if not problems[column.name]]
        conditions = [_conditions(column, scan) for column in counted]
        sums = [f"count_if({condition})" for three in conditions for condition in three]
        dropped = " OR ".join(three[2] for three in conditions) or "FALSE"
        rows, gone, *numbers = scan.row(
            f"SELECT {', '.join(['count(*)', f'count_if({dropped})', *sums])} FROM {scan.source}"
        )
        counts = iter(numbers)
        columns = []
        for column in schema:
            problem, kind = problems[column.name], scan.types.get(column.name, "absent")
            missing, outside, drops = (0, 0, 0) if problem else [next(counts) for _ in range(3)]
            columns.append(ColumnCheck(column.name, kind, missing, outside, drops, problem))
        undeclared = tuple(name for name in scan.types if name not in schema.by_name)
        over = rows > schema.rows_bound and schema.over_cap == "refuse"
        return FileCheck(rows, gone, over, tuple(columns), undeclared)


def _problem(column: Attribute, scan: FileLook) -> str:
    """Why the type of a column in the file does not fit its declaration."""
    if column.name not in scan.types:
        return "the file does not have it."
    if scan.all_text:
        return ""
    kind = scan.types[column.name]
    family = kind.split("(", maxsplit=1)[0]
    if isinstance(column, Numeric):
        return "" if family in NUMBERS else f"its type {kind} is no number."
    fits = family in {"VARCHAR", "ENUM", "BOOLEAN", *INTEGERS}
    return "" if fits else f"its type {kind} has no list of values."


def _conditions(column: Attribute, scan: FileLook) -> tuple[str, str, str]:
    """SQL that is true where the column is missing, outside its domain, or drops the row."""
    text = scan.text(column.name)
    missing = f"{text} IS NULL"
    if column.marker is not None:
        missing = f"({missing} OR {text} = {literal(column.marker)})"
    if isinstance(column, Categorical):
        outside = f"(NOT {missing} AND {text} NOT IN ({', '.join(map(literal, column.values))}))"
        leaves = column.outside_code == DROP
    else:
        # Text that is no number is missing too: it has no place on the grid.
        x = f"TRY_CAST({text} AS DOUBLE)"
        missing = f"({missing} OR {x} IS NULL OR isnan({x}))"
        lower, upper = repr(float(column.lower)), repr(float(column.upper))
        outside = f"(NOT {missing} AND NOT {x} BETWEEN {lower}::DOUBLE AND {upper}::DOUBLE)"
        leaves = not column.clamp
    drops = [missing] if column.missing_code == DROP else []
    return missing, outside, " OR ".join([*drops, *([outside] if leaves else [])]) or "FALSE"


class FileLook:
    """A Parquet or CSV file, open for its owner's look: `source` is its SQL, `types` its columns.

    Without a layout that of a text file is guessed, and so are its types; with one, every column of
    a text file is text, and the file is read as strictly as by the engine.
    """

    def __init__(self, path: Path, layout: Layout | None = None) -> None:
        import duckdb  # noqa: PLC0415 - heavy, and needed by the owner's commands only

        if not path.is_file():
            raise SourceError(f"{path} is not a file.")
        self._error = duckdb.Error
        self._path = path
        self._duckdb = duckdb.connect()
        self._strip = layout is not None and layout.strip
        self.all_text = False
        self._text: Text | None = None
        if path.name.lower().endswith((".parquet", ".pq")):
            self.layout = Layout()
            self.source = parquet([str(path)])
        elif layout is None:
            name = literal(exactly(str(path)))
            self.layout = self._guess(name)
            self.source = f"read_csv({name}, {_options(self.layout)}, sample_size = -1)"
        else:
            self.layout = layout
            self.all_text = True
            self.source = self._as_text(layout)
        described = self.rows(f"DESCRIBE SELECT * FROM {self.source}")
        self.types = {str(row[0]): str(row[1]) for row in described}

    def _guess(self, name: str) -> Layout:
        row = self.row(f"SELECT Delimiter, HasHeader, Columns FROM sniff_csv({name})")
        names = tuple(str(column["name"]) for column in row[2])
        return Layout(str(row[0]), bool(row[1]), () if row[1] else names)

    def _as_text(self, layout: Layout) -> str:
        """A text file as the engine reads it."""
        self._text = open_text(str(self._path), self._path, layout)
        names = self._text.names
        if not names or len(set(names)) < len(names):
            raise SourceError(f"{self._path} needs a header line that names every column once.")
        listed = ", ".join(f"c{at} AS {identifier(name)}" for at, name in enumerate(names))
        return f"(SELECT {listed} FROM {FED})"

    def text(self, column: str) -> str:
        """SQL of a column as text, as the schema's values are."""
        cast = f"CAST({identifier(column)} AS VARCHAR)"
        return stripped(cast) if self._strip else cast

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            if self._text is not None:  # a reader reads once
                self._duckdb.register(FED, self._text.reader(range(len(self._text.names))))
            return self._duckdb.execute(sql).fetchall()
        except self._error:
            # DuckDB's message may quote a row.
            raise SourceError(f"{self._path} cannot be read as a Parquet or CSV file of this layout.") from None

    def row(self, sql: str) -> tuple[Any, ...]:
        return self.rows(sql)[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._duckdb.close()


def _options(layout: Layout) -> str:
    return f"delim = {literal(layout.separator)}, header = {str(layout.header).lower()}"


def to_json(document: dict[str, Any]) -> str:
    """The draft as JSON; its warnings stand in `notes`."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def to_toml(document: dict[str, Any]) -> str:
    """The draft as TOML; its warnings stand in comments."""
    lines = [comment for note in document["notes"] for comment in _comment(note)]
    lines += [f"{key} = {_value(value)}" for key, value in document.items() if key not in _TABLES]
    lines.append("# row_cap = 1000000  # a public bound on the rows that the table may ever hold")
    for entry in document["attributes"]:
        lines += ["", "[[attributes]]", *(f"{key} = {_value(v)}" for key, v in entry.items())]
    if "target" in document:
        lines += ["", "[target]", *(f"{k} = {_value(v)}" for k, v in document["target"].items())]
    return "\n".join(lines) + "\n"


def _comment(note: str) -> list[str]:
    # A column's name may hold a line break: what follows must stay inside the comment.
    plain = "".join(letter if letter.isprintable() else " " for letter in note)
    return textwrap.wrap(plain, 98, initial_indent="# ", subsequent_indent="# ")


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)  # TOML writes doubles as Python does
    # JSON's texts, whole numbers and booleans are TOML's too, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
