"""A first schema of a source, for its owner to review and sign. It reads rows: the owner asks for it."""

from __future__ import annotations

from pathlib import Path

from bocage.engine.files.draft import SIGNING, draft_schema, to_toml

__all__ = ["SIGNING", "draft_of"]
_NO_FILE = ("postgresql://", "postgres://", "spark:")


def draft_of(name: str, source: str, label: str | None) -> str:
    """A draft in TOML; an example to write over where none can be made from the source."""
    if source.startswith(_NO_FILE):
        return _EMPTY.format(name=name)
    return to_toml(draft_schema(Path(source), name, label))


_EMPTY = """# A draft cannot be made from this source: declare what is public by hand.
name = "{name}"
# row_cap = 1000000

[[attributes]]
name = "sex"
type = "categorical"
values = ["F", "M"]

[target]
name = "label"
values = ["no", "yes"]
"""
