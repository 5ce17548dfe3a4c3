"""A drafted schema as a file for the owner to review."""

from __future__ import annotations

import json
import textwrap
from typing import Any

_TABLES = {"attributes", "target", "notes"}


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
