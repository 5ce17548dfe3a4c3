"""How far rows are from being predicted right or wrong: compiled loops of the corrections of an additive model.

A correction may raise one label by one of a few public steps. A row that the model gets wrong is corrected by raising
its own label by enough, and by nothing else; one that it gets right stays so unless another label is raised by
too much. So all that matters about a row is a small number, its *margin*. With S steps and K labels, of label y:

- wrong: which step is the first that corrects it, or S if none does;
- right: S + 1, plus for each other label how many of its steps the row would bear, as digits to the base S + 1.

Margins of the next label begin where those of y end. Scores are whole numbers, and of equal ones the first
label is predicted: nothing here is rounded.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.engine.codes.kernels import compiled
from bocage.private.term_rows import CellRows, Chunk, on_all_cores

Margins = NDArray[np.uint8]  # of the rows of a chunk
MarginsOf = Callable[[Chunk], Margins]
Group = tuple[NDArray[np.int64], int]  # lines of blocks as `margins` has them, and their cells
Floats = NDArray[np.float64]
_STRIP = 2048


def corrected(labels: int, steps: int) -> NDArray[np.float64]:
    """1 where a row of a margin is right under a change, else 0.

    The changes are none at all, then each label with each step.
    """
    lines = []
    for own in range(labels):
        for first in range(steps + 1):
            line = np.zeros((labels, steps))
            line[own, first:] = 1
            lines.append([0, *line.ravel()])
        for borne in product(range(steps + 1), repeat=labels - 1):
            line = np.ones((labels, steps))
            others = [label for label in range(labels) if label != own]
            for label, count in zip(others, reversed(borne), strict=True):
                line[label, count:] = 0
            lines.append([1, *line.ravel()])
    return np.array(lines, np.float64)


@compiled
def _front(cells: Any, start: Any, line: Any, sizes: Any, front: Any) -> Any:
    """Put the cells of all columns of a block but the last into `front`; False if there are none."""
    begun = False
    for c in line[:-2]:
        if c >= 0 and not begun:
            begun = True
            for i in range(len(front)):
                front[i] = cells[c, start + i]
        elif c >= 0:
            for i in range(len(front)):
                front[i] = front[i] * sizes[c] + cells[c, start + i]
    return begun


@compiled
def _add_up(cells: Any, start: Any, sizes: Any, terms: Any, tables: Any, scores: Any) -> None:
    """Add to the scores, a line for each label, those of the rows from `start` on in all terms."""
    front = np.empty(scores.shape[1], np.int32)
    for t in range(len(terms)):
        last, begin = terms[t, -2:]
        several = _front(cells, start, terms[t], sizes, front)
        for label in range(len(scores)):
            line = scores[label]
            if not several:
                for i in range(len(line)):
                    line[i] += tables[label, begin + cells[last, start + i]]
            else:
                for i in range(len(line)):
                    line[i] += tables[label, begin + front[i] * sizes[last] + cells[last, start + i]]


@compiled
def find_margins(
    cells: Any, labels: Any, sizes: Any, terms: Any, tables: Any, intercept: Any, steps: Any, margins: Any,
) -> None:  # fmt: skip
    """The margin of each row.

    A line of `terms` has lines of `cells`, after as many times -1 as there is room left, and where its scores begin in
    each line of `tables`, which there is one of for each label. `sizes` has the number of cells of each line.
    """
    classes, base = len(intercept), len(steps) + 1
    for start in range(0, len(labels), _STRIP):
        size = min(_STRIP, len(labels) - start)
        scores = np.empty((classes, size), np.int64)
        for label in range(classes):
            scores[label] = intercept[label]
        _add_up(cells, start, sizes, terms, tables, scores)
        for i in range(size):
            true, worst, borne, digit = np.int64(labels[start + i]), np.int64(2**62), 0, 1
            for label in range(classes):
                if label != true:
                    lead = scores[true, i] - scores[label, i] - (label < true)
                    worst = min(worst, lead)
                    for step in steps:
                        borne += digit * (lead >= step)
                    digit *= base
            if worst < 0:
                borne = -base
                for step in steps:
                    borne += worst + step < 0
            margins[start + i] = true * (base + digit) + base + borne


@compiled
def count_margins(cells: Any, margins: Any, sizes: Any, blocks: Any, width: Any, counts: Any) -> None:
    """Add each row to the counters of its cell of every block; a line of `blocks` is as one of `terms`.

    Rows take turns with four sets of counters: neighbors are often alike, and adding to what was
    just written waits for it. Blocks that begin with the same columns should be neighbors.
    """
    rows, fours = len(margins), len(margins) // 4 * 4
    keys = np.empty((len(cells), rows), np.uint16)  # of the last column of a block
    known = np.zeros(len(cells), np.bool_)
    front, step = np.zeros(rows, np.uint16), 0
    largest, before = 0, len(counts)
    for start in blocks[::-1, -1] * width:
        largest, before = max(largest, before - start), start
    sets = np.zeros((4, largest), np.int32)  # close together: they stay in the cache
    for b in range(len(blocks)):
        last, start = blocks[b, -2], blocks[b, -1] * width
        end = blocks[b + 1, -1] * width if b + 1 < len(blocks) else len(counts)
        if not known[last]:
            known[last] = True
            for i in range(rows):
                keys[last, i] = cells[last, i] * width + margins[i]
        if b == 0 or step != sizes[last] * width or (blocks[b, :-2] != blocks[b - 1, :-2]).any():
            step, front[:] = sizes[last] * width, 0
            _front(cells, 0, blocks[b], sizes, front)
            for i in range(rows):
                front[i] *= step
        line, size = keys[last], end - start
        one, two, three, four = sets[0], sets[1], sets[2], sets[3]
        for i in range(0, fours, 4):
            one[front[i] + line[i]] += 1
            two[front[i + 1] + line[i + 1]] += 1
            three[front[i + 2] + line[i + 2]] += 1
            four[front[i + 3] + line[i + 3]] += 1
        for i in range(fours, rows):
            one[front[i] + line[i]] += 1
        for j in range(size):
            counts[start + j] += one[j] + two[j] + three[j] + four[j]
            one[j], two[j], three[j], four[j] = 0, 0, 0, 0


@compiled
def right_rows(counts: Any, corrected: Any, right: Any) -> None:
    """Add to `right` how many rows of each cell are right under each change, by their margins.

    `corrected` is what the function of that name gives. Most counts are 0, so that this is quicker than a product
    of matrices.
    """
    for cell in range(len(counts)):
        for margin in range(len(corrected)):
            count = counts[cell, margin]
            if count:
                for change in range(corrected.shape[1]):
                    right[cell, change] += count * corrected[margin, change]


class MarginRows(CellRows):
    """The rows of a model that is corrected, and what a pass over them counts."""

    def margins(
        self,
        terms: NDArray[np.int64],
        tables: NDArray[np.int64],
        intercept: NDArray[np.int64],
        steps: NDArray[np.int64],
    ) -> MarginsOf:
        """What finds the margins of the rows of a chunk; see above."""

        def margins_of(chunk: Chunk) -> Margins:
            margins = np.empty(len(chunk[1]), np.uint8)
            find_margins(*chunk, self._sizes, terms, tables, intercept, steps, margins)
            return margins

        return margins_of

    def right(self, margins_of: MarginsOf, groups: Sequence[Group], corrected: Floats) -> Iterator[Floats]:
        """For each group of blocks, how many rows of each of its cells are right under each change.

        `corrected` is what the function of that name gives. All cores share the groups if there are
        many and rows are in memory, else the chunks, whose margins are found where they are counted:
        a table may change between two scans.
        """

        def with_margins(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Margins]]:
            return ((chunk, margins_of(chunk)) for chunk in chunks)

        def work(task: tuple[Group, Iterable[tuple[Chunk, Margins]]]) -> Floats:
            (blocks, cells), parts = task
            counts = np.zeros(cells * len(corrected), np.int32)
            for chunk, margins in parts:
                count_margins(chunk[0], margins, self._sizes, blocks, len(corrected), counts)
            right = np.zeros((cells, corrected.shape[1]))
            right_rows(counts.reshape(cells, -1), corrected, right)
            return right

        if self._kept is not None and len(groups) > workers():
            every_row = list(with_margins(self._kept))
            yield from on_all_cores(work, ((group, every_row) for group in groups))
            return
        for group in groups:
            tasks = ((group, with_margins([chunk])) for chunk in self.chunks())
            yield sum(self._each(work, tasks), np.zeros((group[1], corrected.shape[1])))
