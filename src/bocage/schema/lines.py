"""On which line of a JSON or TOML text an entry stands, so that a refusal can name it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

Path = tuple[str | int, ...]

# The tokens of both languages: neither uses the other's in a different sense.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""+'
    r"|'''.*?'''+"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{},:=\n]"
    r"|[^\s\[\]{},:=\#\"']+",
    re.DOTALL,
)


@dataclass
class _Open:
    """A container that is being read."""

    path: Path
    index: int | None  # the next position, if it is a list


def line_of(text: str, at: Path) -> int | None:
    """The line of an entry, or of the nearest entry around it."""
    if not at:
        return None
    lines = _lines(text)[0]
    while at and at not in lines:
        at = at[:-1]
    return lines.get(at)


def line_of_twin(text: str) -> int | None:
    """The line of the first key that stands twice in one JSON object."""
    return _lines(text)[1]


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line = 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if not token.startswith("#"):
            yield token, line
        line += token.count("\n")


def _lines(text: str) -> tuple[dict[Path, int], int | None]:
    tokens = list(_tokens(text))
    lines: dict[Path, int] = {}
    twin: int | None = None
    tables: dict[Path, int] = {}  # how often a TOML [[list]] was opened
    stack = [_Open((), None)]
    pending: Path | None = None  # a key whose value comes next
    i = 0
    while i < len(tokens):
        word, line = tokens[i]
        following = tokens[i + 1][0] if i + 1 < len(tokens) else ""
        container = stack[-1]
        if word == "[" and len(stack) == 1 and pending is None and (i == 0 or tokens[i - 1][0] == "\n"):
            i, path = _header(tokens, i, tables)
            stack[0] = _Open(path, None)
            lines.setdefault(path, line)
            continue
        if following in {":", "="} and container.index is None:
            pending = container.path + _key(word)
            if pending in lines and twin is None:
                twin = line
            lines.setdefault(pending, line)
            i += 2
            continue
        if word in {"]", "}"}:
            stack.pop()
        elif word not in {",", "\n", ":", "="}:
            path = container.path if pending is None else pending
            if container.index is not None:
                path = (*container.path, container.index)
                container.index += 1
                lines.setdefault(path, line)
            if word in {"[", "{"}:
                stack.append(_Open(path, 0 if word == "[" else None))
            pending = None
        i += 1
    return lines, twin


def _header(tokens: list[tuple[str, int]], i: int, tables: dict[Path, int]) -> tuple[int, Path]:
    """Read ``[table]`` or ``[[list]]``; return the place behind it and the path that it opens."""
    brackets = 2 if tokens[i + 1][0] == "[" else 1
    i += brackets
    path: Path = ()
    while tokens[i][0] != "]":
        path += _key(tokens[i][0])
        i += 1
    if brackets == 2:
        tables[path] = tables.get(path, -1) + 1
        path = (*path, tables[path])
    return i + brackets, path


def _key(token: str) -> Path:
    if token[0] in "\"'":
        try:
            return (str(json.loads(token)),)
        except ValueError:  # an escape or a quote that only TOML knows
            return (token[1:-1],)
    return tuple(part for part in token.split(".") if part)
