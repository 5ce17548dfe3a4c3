"""What is released: a noisy value with its error bar, its price and its ledger number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Any

from bocage.errors import PlanError

Value = int | float | str
_WRITER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


class Kind(StrEnum):
    """Where an answer comes from."""

    RELEASE = "release"  # paid for, from the table
    STORED = "stored"  # the same question was asked before: returned free
    DRY_RUN = "dry run"  # from rows made up from the schema: says nothing about the table
    PREVIEW = "preview"  # no value, only price and expected error


_COLORS = {Kind.RELEASE: "green", Kind.STORED: "cyan", Kind.DRY_RUN: "magenta"}
_BAR = 28  # letters
_MOST_ROWS = 40  # in the terminal


@dataclass(frozen=True)
class Item:
    """One released number or choice, and the interval that holds the exact one with 95 %."""

    key: str
    value: Value | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to one question: one item, or one per cell.

    Attributes
    ----------
    question
        The question in words.
    keys, values, lows, highs
        Public keys, and for each the released value and its 95 % interval.
    mechanism, scale
        What noise was added, and its scale in the unit of the value.
    splits
        What a choice chose for each cell: a column and, if numeric, the code of its threshold.
    plus_minus
        Half the width of the 95 % interval of the noise, known before asking; None where it depends
        on the table.
    cost
        Epsilon charged, as a decimal text.
    entry
        Number of the ledger entry that paid, or None without a ledger.
    """

    question: str
    keys: tuple[str, ...]
    values: tuple[Value | None, ...]
    mechanism: str
    scale: str
    plus_minus: float | None
    cost: str
    adjacency: str
    kind: Kind = Kind.RELEASE
    lows: tuple[float | None, ...] | None = None
    highs: tuple[float | None, ...] | None = None
    splits: tuple[tuple[str, int | None], ...] | None = None
    entry: int | None = None
    remaining: str | None = None
    note: str = ""

    @property
    def items(self) -> list[Item]:
        """Keys, values and intervals together."""
        nothing = (None,) * len(self.keys)
        columns = (self.keys, self.values, self.lows or nothing, self.highs or nothing)
        return [Item(*row) for row in zip(*columns, strict=True)]

    @property
    def value(self) -> Value | None:
        """The value of an answer with one item."""
        return self._only.value

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The 95 % interval of an answer with one item."""
        return self._only.low, self._only.high

    def __getitem__(self, key: str) -> Item:
        if key not in self.keys:
            raise PlanError(f"the answer has no item {key!r}.")
        return self.items[self.keys.index(key)]

    @property
    def _only(self) -> Item:
        if len(self.keys) != 1:
            raise PlanError("this answer has several items: use .values, .items or answer[key].")
        return self.items[0]

    def as_kind(self, kind: Kind, **changes: Any) -> Answer:
        other = object.__new__(Answer)
        vars(other).update(vars(self), kind=kind, **changes)
        return other

    def to_json(self) -> str:
        return _WRITER.encode(vars(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Answer:
        document = json.loads(text)
        for field in ("keys", "values", "lows", "highs"):
            document[field] = None if document[field] is None else tuple(document[field])
        if document["splits"] is not None:
            document["splits"] = tuple((name, at) for name, at in document["splits"])
        return cls(**{**document, "kind": Kind(document["kind"])})

    def __str__(self) -> str:
        if len(self.keys) == 1:
            lines = [f"{self.question}: {show(self.items[0])}"]
        else:
            width = max(map(len, self.keys), default=0)
            lines = [self.question]
            lines += [f"  {item.key:<{width}}  {show(item)}" for item in _shown(self.items)]
        return "\n".join(map(printable, [*lines, f"  {self.footnote()}"]))

    def footnote(self) -> str:
        """Mechanism, scale, price and ledger number in one line."""
        facts = [self.mechanism, f"scale {self.scale}", f"epsilon {self.cost}"]
        if self.kind is not Kind.RELEASE:
            facts.insert(0, self.kind.value)
        if self.kind is Kind.PREVIEW and self.plus_minus is not None:
            facts.insert(1, f"± {figure(self.plus_minus)} at 95 %")
        if self.entry is not None:
            facts.append(f"ledger entry {self.entry}")
        if self.remaining is not None:
            facts.append(f"{self.remaining} left")
        return " · ".join(fact for fact in [*facts, self.note] if fact)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(item.key)}</td><td style='text-align:right'><b>{escape(_value(item))}"
            f"</b></td><td>{escape(_interval(item))}</td></tr>"
            for item in _shown(self.items)
        )
        return (
            f"<table><caption>{escape(self.question)}</caption><tr><th></th><th>value</th>"
            f"<th>95 % interval</th></tr>{rows}</table><small>{escape(self.footnote())}</small>"
        )

    def __rich__(self) -> Any:
        return _preview_lines(self) if self.kind is Kind.PREVIEW else _value_table(self)


def printable(text: str) -> str:
    """Without control characters, which a terminal would obey."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def show(item: Item) -> str:
    interval = _interval(item)
    return f"{_value(item)}  {interval}" if interval else _value(item)


def _value(item: Item) -> str:
    return "–" if item.value is None else figure(item.value)


def _interval(item: Item) -> str:
    if item.low is None or item.high is None:
        return ""
    return f"[{figure(item.low)}, {figure(item.high)}]"


def figure(value: Value) -> str:
    """A number for people: thousands parted, six significant digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.6g}"


def _shown(items: Sequence[Item], most: int = 60) -> list[Item]:
    if len(items) <= most:
        return list(items)
    return [*items[: most - 1], Item(f"… {len(items) - most + 1} more", None)]


def _preview_lines(answer: Answer) -> Any:
    """In the terminal: the question and what it would cost."""
    from rich.console import Group  # noqa: PLC0415 - rich loads only when drawing
    from rich.text import Text  # noqa: PLC0415 - likewise

    facts = Text(printable(answer.footnote()), style="dim")
    facts.highlight_regex("± .* at 95 %", "not dim yellow")
    return Group(Text(printable(answer.question), style="bold"), facts)


def _value_table(answer: Answer) -> Any:
    """In the terminal: key, value, 95 % interval, and bars where there are several counts."""
    from rich.console import Group  # noqa: PLC0415 - rich loads only when drawing
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    items = answer.items
    several = len(items) > 1
    table = Table(box=None)
    if several:
        table.add_column("", overflow="fold")
    table.add_column("value", justify="right", style=_COLORS[answer.kind])
    if answer.lows:
        table.add_column("95 % interval", justify="right", style="dim")
    largest = max((abs(i.value) for i in items if isinstance(i.value, int | float)), default=0)
    bars = several and largest > 0
    if bars:
        table.add_column("")
    for item in items[:_MOST_ROWS]:
        row = _row(item, several=several, largest=largest if bars else 0)
        # Texts, not strings: what a public value contains is shown, never read as markup.
        table.add_row(*(Text(printable(field)) for field in row))
    if len(items) > _MOST_ROWS:
        table.add_row(f"… {len(items) - _MOST_ROWS} more")
    title = Text(printable(answer.question), style="bold")
    return Group(title, table, Text(printable(answer.footnote()), style="dim"))


def _row(item: Item, *, several: bool, largest: float) -> list[str]:
    row = [item.key] if several else []
    row.append(_value(item))
    if item.low is not None and item.high is not None:
        row.append(f"{figure(item.low)} … {figure(item.high)}")
    if largest and isinstance(item.value, int | float):
        row.append("█" * round(_BAR * max(item.value, 0) / largest))
    return row
