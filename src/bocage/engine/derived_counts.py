"""Counts that follow from counts: what a scan has told is not scanned for again.

Whoever has counted column by label in every cell of a level knows the labels of every cell of the
next one, whichever columns split the cells. The questions of one learner run come through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocage.engine.base import Engine
from bocage.engine.versions import EngineProxy
from bocage.plan import OUTSIDE, Branch, Cells, Cut, Question, Tally
from bocage.plan.cells import targets_of
from bocage.plan.question import IntArray


class DerivedCounts(EngineProxy):
    """An engine in front of another: answers what follows from what was counted before.

    It keeps the counts of the first level and of the last one, both from snapshots of the table
    that the run has already looked at.

    Privacy
    -------
    The integers are those that a scan would give, and still private. Whether a scan is spared
    follows from the questions alone.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._kept: list[tuple[Question, Tally]] = []

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        if len(questions) != 1:
            return self._engine.answer(questions)
        question = questions[0]
        for before, tally in self._kept:
            if (answer := derived(before, tally, question)) is not None:
                return [answer]
        answers = self._engine.answer(questions)
        if question.label is not None and question.columns:
            self._kept = [*self._kept[:1], (question, answers[0])]
        return answers

    def pin(self) -> Engine:
        return DerivedCounts(self._engine.pin())

    def close(self) -> None:
        self._kept = []
        super().close()


def derived(before: Question, tally: Tally, question: Question) -> Tally | None:
    """The answer to a question if it follows from the answer to one before."""
    label = before.label
    if label is None or question.sums or question.where != before.where:
        return None
    descent = descent_of(before.cells, question.cells)
    if descent is None or any(node.column not in tally.columns for _, node in descent.split):
        return None
    totals = descent.counts(tally, question.cells.count)
    if question.label is None and set(question.columns) <= {label}:
        columns = {label: totals[:, :, np.newaxis]} if question.columns else {}
        return Tally(totals.sum(axis=1, keepdims=True), columns, {})
    if question.label != label or not set(question.columns) <= set(tally.columns):
        return None
    if not question.columns:
        return Tally(totals, {}, {})
    origin = {new: old for old, new in descent.kept}
    if descent.split or len(origin) < max(len(descent.kept), question.cells.count):
        return None
    olds = [origin[cell] for cell in range(question.cells.count)]
    return Tally(totals, {name: tally.columns[name][olds] for name in question.columns}, {})


@dataclass(frozen=True)
class Descent:
    """Where cells come from: pairs (old cell, new cell), and (old cell, the node that splits it)."""

    kept: list[tuple[int, int]]
    split: list[tuple[int, Branch | Cut]]

    def counts(self, tally: Tally, cells: int) -> IntArray:
        """The label counts of the new cells."""
        result = np.zeros((cells, tally.totals.shape[1]), np.int64)
        for old, new in self.kept:
            result[new] += tally.totals[old]
        for old, node in self.split:
            counts = tally.columns[node.column][old]
            if isinstance(node, Branch):
                targets = np.array(node.targets)
                inside = targets != OUTSIDE
                np.add.at(result, ~targets[inside], counts[inside])
                continue
            at = node.threshold
            for target, part in ((node.below, counts[:at]), (node.above, counts[at:])):
                if target != OUTSIDE:
                    result[~target] += part.sum(axis=0)
        return result


def descent_of(old: Cells, new: Cells) -> Descent | None:
    """How new cells come from old ones that were kept, left out or split once; None if otherwise.

    `Cells.refine` and `Cells.only` leave the nodes in their order and add new ones at the end.
    """
    first = len(old.nodes)
    if len(new.nodes) < first:
        return None
    goes: dict[int, int] = {} if old.nodes else {0: 0 if new.nodes else ~0}
    for was, now in zip(old.nodes, new.nodes, strict=False):
        if _test_of(was) != _test_of(now):
            return None
        for target, goal in zip(targets_of(was), targets_of(now), strict=True):
            if target >= 0 or target == OUTSIDE:
                if goal != target:
                    return None
            elif 0 <= goal < first or goes.setdefault(~target, goal) != goal:
                return None
    if any(target >= 0 for node in new.nodes[first:] for target in targets_of(node)):
        return None
    return Descent(
        [(cell, ~goal) for cell, goal in goes.items() if OUTSIDE < goal < 0],
        [(cell, new.nodes[goal]) for cell, goal in goes.items() if goal >= 0],
    )


def _test_of(node: Branch | Cut) -> tuple[str, int]:
    """What a node asks: the column and its threshold, or how many codes it tells apart."""
    return (node.column, -len(node.targets) if isinstance(node, Branch) else node.threshold)
