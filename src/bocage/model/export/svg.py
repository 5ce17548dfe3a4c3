"""A model as a drawing: a tree with the root on the left, or the tables of an additive model.

Every leaf of a tree has a row of its own, of fixed height: a large tree gets tall and stays legible.
An additive model is one small table of bars per term, the most important first. A drawing is one
file without script or font, follows the reader's light or dark setting, and carries the whole model
as text for those who cannot see it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from bocage.errors import ModelError
from bocage.model.additive.model import AdditiveModel, Term
from bocage.model.base import Model
from bocage.model.export.text import cells_of, intercept_text, outcome, to_text
from bocage.model.tree.forest import confidence
from bocage.model.tree.paths import edge, in_words, path
from bocage.model.tree.tree import Tree
from bocage.schema import Categorical

ROW, BOX, GAP, MARGIN = 38, 30, 12, 16  # height of a row and of a box, space after siblings, border
LETTER = 6.7  # width of one, roughly
LONGEST = 30  # letters of a text that are shown
MOST_LETTERS = 80  # of a line about a term: those of two columns are long
LINE, BAR, HEAD = 18, 90, 26  # height of a line, half the width of a bar chart, height of a heading
# Distinct for most kinds of color blindness (after Okabe and Ito), readable on light and dark.
COLORS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6fd1", "#7a7a7a")

STYLE = """
.bocage{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.bocage .paper{fill:#fff}.bocage .ink{fill:#1f2328}.bocage .dim{fill:#59636e;font-size:11px}
.bocage .line{fill:none;stroke:#9aa4af;stroke-width:1.5}.bocage .bold{font-weight:600}
.bocage .box{stroke:#9aa4af;stroke-width:1}
.bocage .head{font-size:15px;font-weight:600}
@media (prefers-color-scheme:dark){.bocage .paper{fill:#16191d}.bocage .ink{fill:#e8ebee}
.bocage .dim{fill:#a5afb9}.bocage .line,.bocage .box{stroke:#5b6570}}
"""


_Line = tuple[str, list[float]]  # a cell in words, and what it adds for each label


@dataclass(frozen=True)
class _Layout:
    """Where everything is: for each node left and middle, and the width of its box."""

    left: list[float]
    middle: list[float]
    width: list[float]
    size: tuple[float, float]


def to_svg(model: Model) -> str:
    """The drawing of a tree or an additive model, as the text of an SVG file."""
    if isinstance(model, AdditiveModel):
        return _additive_svg(model)
    if not isinstance(model, Tree):
        raise ModelError(f"a {type(model).__name__} is not drawn as a whole: draw its trees.")
    return _tree_svg(model)


def _tree_svg(tree: Tree) -> str:
    heads = _heads(tree)
    legend = list(_legend(tree))
    layout = _layout(tree, top=86)
    width = max(layout.size[0], 2 * MARGIN + 8.5 * max(map(len, heads)), legend[-1][1])
    height = layout.size[1]
    title = xml(heads[0])
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="bocage" role="img" {size}>',
        f"<title>{title}</title><desc>{xml(to_text(tree))}</desc>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        f'<text class="ink head" x="{MARGIN}" y="28">{title}</text>',
        f'<text class="dim" x="{MARGIN}" y="46">{xml(heads[1])}</text>',
        *(text for text, _ in legend),
        *_links(tree, layout),
        *_boxes(tree, layout),
        "</svg>",
    ]
    return "\n".join(parts)


def _heads(tree: Tree) -> tuple[str, str]:
    made = tree.certificate
    guarantee = "nothing is guaranteed" if made.epsilon is None else f"epsilon {made.epsilon}"
    leaves = len(tree.leaves)
    size = f"{len(tree)} nodes, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
    return (
        f"{tree.label_attribute.name} of {tree.schema.name}, by {made.learner}, {guarantee}",
        f"{size}. Counts are noisy. The stronger the color, the more rows have the label.",
    )


def _legend(tree: Tree) -> Iterator[tuple[str, float]]:
    """The labels with their colors, and where each entry ends."""
    x = float(MARGIN)
    for code, value in enumerate(tree.label_attribute.values):
        if code == len(COLORS):
            more = f"and {tree.label_attribute.cells - code} more, in the same colors again"
            yield f'<text class="dim" x="{x:.0f}" y="68">{more}</text>', x + len(more) * LETTER
            return
        shown = shorten(value)
        end = x + 16 + len(shown) * LETTER + 18
        square = f'<rect x="{x:.0f}" y="58" width="11" height="11" rx="2" fill="{color(code)}"/>'
        yield f'{square}<text class="ink" x="{x + 16:.0f}" y="68">{xml(shown)}</text>', end
        x = end


def _layout(tree: Tree, top: float) -> _Layout:
    middle = [0.0] * len(tree)
    y = top + BOX / 2
    for leaf, closes in _leaves(tree):
        middle[leaf] = y
        y += ROW + (GAP if closes else 0)
    for node in range(len(tree) - 1, -1, -1):
        children = tree.children(node)
        if children:
            middle[node] = (middle[children[0]] + middle[children[-1]]) / 2
    width = [_box_width(tree, node) for node in range(len(tree))]
    starts, right = [float(MARGIN)], 0.0
    for depth in range(tree.depth_ + 1):
        level = np.flatnonzero(tree.depth == depth).tolist()
        right = starts[depth] + max(width[node] for node in level)
        below = [child for node in level for child in tree.children(node)]
        words = max((len(shorten(_step(tree, child))) for child in below), default=0)
        starts.append(right + 44 + words * LETTER)
    left = [starts[depth] for depth in tree.depth.tolist()]
    most_right = max(x + w for x, w in zip(left, width, strict=True))
    return _Layout(left, middle, width, (most_right + MARGIN, y + MARGIN))


def _leaves(tree: Tree) -> Iterator[tuple[int, bool]]:
    """The leaves from top to bottom, and whether each is the last of its siblings."""
    waiting = [0]
    while waiting:
        node = waiting.pop()
        children = tree.children(node)
        if not children:
            siblings = tree.children(int(tree.parent[node])) if node else range(1)
            yield node, node == siblings[-1]
        waiting += reversed(children)


def _links(tree: Tree, layout: _Layout) -> Iterator[str]:
    for node in range(1, len(tree)):
        above = int(tree.parent[node])
        start = layout.left[above] + layout.width[above]
        bend, end = start + 16, layout.left[node]
        y = layout.middle[node]
        yield f'<path class="line" d="M{start:.1f} {layout.middle[above]:.1f}H{bend:.1f}V{y:.1f}H{end:.1f}"/>'
        words = shorten(_step(tree, node))
        room = 8 + 7 * len(words)  # the line makes room for the text
        yield f'<rect class="paper" x="{bend + 9:.1f}" y="{y - 8:.1f}" width="{room:.1f}" height="16"/>'
        yield f'<text class="ink" x="{bend + 12:.1f}" y="{y + 4:.1f}">{xml(words)}</text>'


def _boxes(tree: Tree, layout: _Layout) -> Iterator[str]:
    strength = confidence(tree).tolist()
    for node in range(len(tree)):
        x, y = layout.left[node], layout.middle[node] - BOX / 2
        fill, width = color(int(tree.label[node])), layout.width[node]
        top, below = _words(tree, node)
        steps = path(tree, node).items()
        rule = " and ".join(in_words(tree.schema[name], codes) for name, codes in steps)
        yield f"<g><title>{xml(rule or 'all rows')}: {xml(outcome(tree, node))}</title>"
        yield (
            f'<rect class="paper box" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX}" rx="4"/>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX}" rx="4" fill="{fill}" '
            f'fill-opacity="{0.05 + 0.45 * strength[node]:.2f}"/>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="5" height="{BOX}" rx="2" fill="{fill}"/>'
        )
        bold = "bold " if tree.is_leaf[node] else ""
        middle = y + (BOX / 2 + 4 if not below else 13)
        yield f'<text class="{bold}ink" x="{x + 11:.1f}" y="{middle:.1f}">{xml(top)}</text>'
        if below:
            yield f'<text class="dim" x="{x + 11:.1f}" y="{y + 25:.1f}">{xml(below)}</text>'
        yield "</g>"


def _words(tree: Tree, node: int) -> tuple[str, str]:
    """The two lines of a box: what it decides or asks, and what was released."""
    decision = shorten(tree.label_attribute.values[int(tree.label[node])])
    counts = ""
    if tree.has_counts[node]:
        numbers = tree.counts[node].tolist()
        counts = " : ".join(f"{number:,}" for number in numbers)
        if len(counts) > LONGEST:
            counts = f"{max(numbers):,} of {sum(max(number, 0) for number in numbers):,}"
    elif tree.has_total[node]:
        counts = f"{int(tree.total[node]):,} rows"
    if tree.is_leaf[node]:
        return decision, counts
    name = shorten(tree.schema.attributes[tree.column[node]].name)
    return f"{name} ?", f"{decision} · {counts}" if counts else decision


def _box_width(tree: Tree, node: int) -> float:
    return 22 + LETTER * max(8, *map(len, _words(tree, node)))


def _step(tree: Tree, node: int) -> str:
    """The test that leads to a node; its parent's box names the column."""
    name = edge(tree, node)[0]
    column = tree.schema[name]
    words = in_words(column, path(tree, node)[name])
    if isinstance(column, Categorical):
        return words.removeprefix(f"{name} ").removeprefix("is ")
    return words.replace(f"{name} ", "", 1).removeprefix("is ") if words.startswith(name) else words


def _additive_svg(model: AdditiveModel) -> str:
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
        y += HEAD + LINE * len(lines) + 14
    width = max(width, 2 * MARGIN + 8.5 * len(title), 2 * MARGIN + LETTER * len(intercept_text(model)))
    size = f'viewBox="0 0 {width:.0f} {y:.0f}" width="{width:.0f}" height="{y:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="bocage" role="img" {size}>',
            f"<title>{xml(title)}</title><desc>{xml(to_text(model))}</desc>",
            f"<style>{STYLE}</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            f'<text class="ink head" x="{MARGIN}" y="28">{xml(title)}</text>',
            f'<text class="dim" x="{MARGIN}" y="46">{xml(intercept_text(model))}</text>',
            *parts,
            "</svg>",
        ]
    )


def _term(
    model: AdditiveModel, term: Term, lines: list[_Line], top: float, *, left: float, largest: float
) -> Iterator[str]:
    heading = shorten(" and ".join(term.columns), MOST_LETTERS)
    yield f'<text class="bold ink" x="{MARGIN}" y="{top:.1f}">{xml(heading)}</text>'
    two = len(model.label_attribute.values) == 2
    for column, label in enumerate(model.shown_labels):
        middle = left + column * (2 * BAR + 60) + BAR
        if not two:
            yield (
                f'<text class="dim" x="{middle:.1f}" y="{top:.1f}" text-anchor="middle">{xml(shorten(label))}</text>'
            )
        low, high = top + 6, top + 6 + LINE * len(lines)
        yield f'<path class="line" d="M{middle:.1f} {low:.1f}V{high:.1f}"/>'
    for line, (words, effects) in enumerate(lines):
        y = top + 6 + LINE * line
        yield f"<g><title>{xml(words)}</title>"
        yield f'<text class="ink" x="{MARGIN}" y="{y + 13:.1f}">{xml(shorten(words, MOST_LETTERS))}</text>'
        for column, effect in enumerate(effects):
            middle = left + column * (2 * BAR + 60) + BAR
            length = BAR * abs(effect) / largest
            x = middle if effect > 0 else middle - length
            code = int(effect > 0) if two else column
            yield (
                f'<rect x="{x:.1f}" y="{y + 3:.1f}" width="{length:.1f}" height="{LINE - 6}" '
                f'fill="{color(code)}"/>'
                f'<text class="dim" x="{middle + BAR + 6:.1f}" y="{y + 13:.1f}">{effect:+.2f}</text>'
            )
        yield "</g>"


def color(code: int) -> str:
    return COLORS[code % len(COLORS)]


def shorten(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def xml(text: str) -> str:
    """Text that XML can hold: a control character in a name becomes a visible mark."""
    return escape(_FORBIDDEN.sub("\ufffd", text))
