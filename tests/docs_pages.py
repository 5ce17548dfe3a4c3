"""The documentation as a reader meets it: pages, and in each its blocks in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(
    r"(?:<!-- no-run: (?P<reason>[^>]+?) -->\n)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block: what language, on which line, and why it does not run, if it does not."""

    language: str
    title: str | None
    body: str
    line: int
    reason: str | None

    @property
    def commands(self) -> list[str]:
        """The commands of a console block."""
        return [line[2:] for line in self.body.splitlines() if line.startswith("$ ")]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            m["language"],
            m["title"],
            m["body"],
            text.count("\n", 0, m.start("body")) + 1,
            m["reason"],
        )
        for m in _BLOCK.finditer(text)
    ]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()
