from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given, settings

from bocage.model import Forest, TreeBuilder, to_svg
from bocage.schema import Categorical, Numeric
from models import certificate_of, models, schema_of

SVG = "{http://www.w3.org/2000/svg}"


def test_a_drawing_shows_every_node_once_and_tells_its_story_in_words():
    schema = schema_of(Numeric("age", 0, 99, step=1))
    builder = TreeBuilder(schema)
    for leaf, counts in zip(builder.split(0, "age", 40), ([9, 1], [2, 1234]), strict=True):
        builder.counts(leaf, counts)
    root = ET.fromstring(to_svg(builder.freeze(certificate_of(schema))))  # noqa: S314 - our own text
    assert root.attrib["role"] == "img"
    assert root.findtext(f"{SVG}title") == "label of people, by DiffPID3, epsilon 0.75"
    assert "age ≥ 40: yes  [no 2, yes 1,234]" in (root.findtext(f"{SVG}desc") or "")
    words = [text.text for text in root.iter(f"{SVG}text")]
    for part in ("age ?", "< 40", "≥ 40", "9 : 1", "2 : 1,234", "no", "yes"):
        assert part in words
    assert len(list(root.iter(f"{SVG}g"))) == 3
    assert not list(root.iter(f"{SVG}script"))


@settings(deadline=None, max_examples=40)
@given(model=models())
def test_every_tree_is_drawn_as_xml_without_overlap(model):
    for tree in model.trees if isinstance(model, Forest) else (model,):
        root = ET.fromstring(to_svg(tree))  # noqa: S314 - our own text
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        boxes = []
        for group in root.iter(f"{SVG}g"):
            box = group.find(f"{SVG}rect").attrib  # type: ignore[union-attr] # every group has one
            x, y = float(box["x"]), float(box["y"])
            boxes.append((x, y, x + float(box["width"]), y + float(box["height"])))
        assert len(boxes) == len(tree)
        for i, (left, top, right, bottom) in enumerate(boxes):
            assert left >= 0
            assert top >= 80
            assert right <= width
            assert bottom <= height
            for other in boxes[:i]:
                apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
                assert apart


def test_control_characters_and_markup_in_names_stay_text():
    schema = schema_of(Categorical("<b>\x01&", ("\x1b[31m", "]]>")), labels=('"', "&lt;"))
    builder = TreeBuilder(schema)
    for leaf in builder.split(0, "<b>\x01&"):
        builder.label(leaf, 1)
    root = ET.fromstring(to_svg(builder.freeze(certificate_of(schema))))  # noqa: S314 - our own text
    assert "<b>\ufffd& ?" in [text.text for text in root.iter(f"{SVG}text")]
