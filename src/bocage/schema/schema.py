"""The public description of a table: attributes, label, row cap."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from bocage.errors import PlanError, SchemaError
from bocage.schema.attribute import MOST_ROWS, Attribute, Categorical, Numeric, check_text
from bocage.schema.layout import Layout


@dataclass(frozen=True)
class Schema:
    """What is public about a table. Nothing here is ever read from the data.

    Parameters
    ----------
    name
        Name of the table.
    attributes
        All columns that questions may name, without the label.
    label
        The column that trees predict, if there is one.
    row_cap
        The most rows that the table may hold. Needed by questions whose sensitivity depends on it.
    over_cap
        What happens to a table with more rows: ``"refuse"`` to open it, or ``"cut"`` it to the
        first `row_cap` positions of its storage, a rule that looks at no value.
    """

    name: str
    attributes: tuple[Attribute, ...]
    label: Categorical | None = None
    row_cap: int | None = None
    over_cap: Literal["refuse", "cut"] = "refuse"
    title: str = ""
    layout: Layout = field(default_factory=Layout)
    by_name: dict[str, Attribute] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self.name, "name", "the schema")
        columns = [*self.attributes, *([self.label] if self.label else [])]
        if not columns:
            raise SchemaError(f"schema {self.name!r} has no attributes and no label.", at=("attributes",))
        by_name = {column.name: column for column in columns}
        if len(by_name) < len(columns):
            names = [column.name for column in columns]
            twice = next(name for name in names if names.count(name) > 1)
            raise SchemaError(f"schema {self.name!r} declares the column {twice!r} twice.")
        if any(not name for name in by_name):
            raise SchemaError(f"schema {self.name!r} has a column without a name.")
        if self.row_cap is not None and not 1 <= self.row_cap <= MOST_ROWS:
            raise SchemaError(
                f"schema {self.name!r}: row_cap must lie between 1 and {MOST_ROWS}, not {self.row_cap}.",
                at=("row_cap",),
            )
        object.__setattr__(self, "by_name", by_name)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.by_name.values())

    def __getitem__(self, name: str) -> Attribute:
        try:
            return self.by_name[name]
        except KeyError:
            raise PlanError(
                f"table {self.name!r} has no column {name!r}. Its columns are {', '.join(map(repr, self.by_name))}."
            ) from None

    def numeric(self, name: str) -> Numeric:
        column = self[name]
        if not isinstance(column, Numeric):
            raise PlanError(f"column {name!r} of table {self.name!r} is categorical, not numeric.")
        return column

    def categorical(self, name: str) -> Categorical:
        column = self[name]
        if not isinstance(column, Categorical):
            raise PlanError(f"column {name!r} of table {self.name!r} is numeric, not categorical.")
        return column

    @property
    def rows_bound(self) -> int:
        """The cap that engines enforce: the declared one, or the largest possible."""
        return self.row_cap if self.row_cap is not None else MOST_ROWS

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that gives a code its meaning."""
        document = self.to_dict()
        about = {"title", *self.layout.to_dict()}
        meaning = {key: value for key, value in document.items() if key not in about}
        text = json.dumps(meaning, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def encoding(self) -> str:
        """SHA-256 of everything that says which code a stored value becomes: the fingerprint, and
        the layout of a text file.
        """
        text = json.dumps([self.fingerprint, vars(self.layout)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        from bocage.schema.document import to_dict  # noqa: PLC0415 - it builds on this class

        return to_dict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Schema:
        from bocage.schema.document import from_dict  # noqa: PLC0415 - it builds on this class

        return from_dict(document)

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read a schema from a JSON or TOML file."""
        from bocage.schema.files import read  # noqa: PLC0415 - it builds on this class

        return read(Path(path))
