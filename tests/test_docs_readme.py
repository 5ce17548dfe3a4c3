"""The README shows what its twelve lines learn."""

from __future__ import annotations

import importlib.util
import re
from xml.etree import ElementTree as ET

from docs_pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def title(drawing: str) -> str:
    """The title of a drawing, whose text is well formed."""
    return ET.fromstring(drawing).findtext(f"{SVG}title")  # noqa: S314 - our own file


def test_the_picture_is_drawn_from_the_twelve_lines():
    spec = importlib.util.spec_from_file_location("picture", ROOT / "scripts" / "picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    shown, again = picture.PICTURE.read_text(encoding="utf-8"), picture.drawn()
    assert title(shown) == title(again) == "ill of people, by readable, epsilon 1"
    assert "8 leaves" in shown
    assert "prefers-color-scheme:dark" in shown


def test_what_comes_first_is_a_picture_then_two_commands_then_twelve_lines():
    order = [README.index(part) for part in ("images/tree.svg", "make demo", "```python")]
    assert order == sorted(order)
    assert len(README[: order[0]].splitlines()) < 10
    assert re.search(r"100,000 made-up people for epsilon 1", README)
