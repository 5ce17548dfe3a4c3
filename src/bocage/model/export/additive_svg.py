"""An additive model as a drawing: one small table of bars per term, the most important first.

Like the drawing of a tree it is one file without script or font, follows the reader's light or dark
setting, and carries the whole model as text for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bocage.model.additive.model import AdditiveModel, Term
from bocage.model.export.additive_text import additive_text, cells_of, start
from bocage.model.export.svg import LETTER, LONGEST, MARGIN, STYLE, color, shorten, xml

MOST_LETTERS = 80  # of a line: those of two columns are long
Line = tuple[str, list[float]]
ROW, BAR, HEAD = 18, 90, 26  # height of a line, half the width of a bar chart, height of a heading


def additive_svg(model: AdditiveModel) -> str:
    """The drawing, as the text of an SVG file."""
    terms = [(term, list(cells_of(model, term))) for term in model.by_importance()]
    largest = max(float(np.abs(model.effects(term)).max()) for term, _ in terms) or 1.0
    longest = min(max(len(words) for _, lines in terms for words, _ in lines), MOST_LETTERS)
    labels, left = len(model.shown_labels), MARGIN + LETTER * max(longest, LONGEST) + 10
    width = left + labels * (2 * BAR + 60) + MARGIN
    made = model.certificate
    guarantee = "nothing is guaranteed" if made.epsilon is None else f"epsilon {made.epsilon}"
    title = f"{model.label_attribute.name} of {model.schema.name}, by {made.learner}, {guarantee}"
    parts: list[str] = []
    y = 86.0
    for term, lines in terms:
        parts += _term(model, term, lines, y, left=left, largest=largest)
        y += HEAD + ROW * len(lines) + 14
    width = max(width, 2 * MARGIN + 8.5 * len(title), 2 * MARGIN + LETTER * len(start(model)))
    size = f'viewBox="0 0 {width:.0f} {y:.0f}" width="{width:.0f}" height="{y:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="bocage" role="img" {size}>',
            f"<title>{xml(title)}</title><desc>{xml(additive_text(model))}</desc>",
            f"<style>{STYLE}</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            f'<text class="ink head" x="{MARGIN}" y="28">{xml(title)}</text>',
            f'<text class="dim" x="{MARGIN}" y="46">{xml(start(model))}</text>',
            *parts,
            "</svg>",
        ]
    )


def _term(
    model: AdditiveModel, term: Term, lines: list[Line], top: float, *, left: float, largest: float
) -> Iterator[str]:
    heading = shorten(" and ".join(term.columns), MOST_LETTERS)
    yield f'<text class="bold ink" x="{MARGIN}" y="{top:.1f}">{xml(heading)}</text>'
    two = len(model.label_attribute.values) == 2
    for place, label in enumerate(model.shown_labels):
        middle = left + place * (2 * BAR + 60) + BAR
        if not two:
            yield (
                f'<text class="dim" x="{middle:.1f}" y="{top:.1f}" text-anchor="middle">'
                f"{xml(shorten(label))}</text>"
            )
        low, high = top + 6, top + 6 + ROW * len(lines)
        yield f'<path class="line" d="M{middle:.1f} {low:.1f}V{high:.1f}"/>'
    for line, (words, effects) in enumerate(lines):
        y = top + 6 + ROW * line
        yield f"<g><title>{xml(words)}</title>"
        yield f'<text class="ink" x="{MARGIN}" y="{y + 13:.1f}">{xml(shorten(words, MOST_LETTERS))}</text>'
        for place, effect in enumerate(effects):
            middle = left + place * (2 * BAR + 60) + BAR
            length = BAR * abs(effect) / largest
            x = middle if effect > 0 else middle - length
            code = int(effect > 0) if two else place
            yield (
                f'<rect x="{x:.1f}" y="{y + 3:.1f}" width="{length:.1f}" height="{ROW - 6}" '
                f'fill="{color(code)}"/>'
                f'<text class="dim" x="{middle + BAR + 6:.1f}" y="{y + 13:.1f}">{effect:+.2f}</text>'
            )
        yield "</g>"
