"""The reference engine against counting row by row in plain Python."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))

from cases import Case, cases

from bocage.engine.reference import ReferenceEngine, code_of
from bocage.plan import OUTSIDE, Cut, predicate
from bocage.schema import DROP


def cell_of(cells, row):
    target = 0 if cells.nodes else ~0
    while target >= 0:
        node = cells.nodes[target]
        code = row[node.column]
        target = (node.below if code < node.threshold else node.above) if isinstance(node, Cut) else node.targets[code]
    return None if target == OUTSIDE else ~target


def passes(bound, row):
    if isinstance(bound, predicate.Test):
        return any(low <= row[bound.column] <= high for low, high in bound.ranges)
    return (all if isinstance(bound, predicate.Every) else any)(passes(part, row) for part in bound.parts)


# Tables are small but nested deep; generating them is what takes the time.
@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_the_reference_equals_counting_row_by_row(case: Case):
    coded = [
        {c.name: code_of(c, v) for c, v in zip(case.schema, values, strict=True)}
        for values in zip(*(case.columns[c.name] for c in case.schema), strict=True)
    ]
    rows = [row for row in coded if DROP not in row.values()]
    answers = ReferenceEngine(case.columns, case.schema).answer(case.questions)
    for question, tally in zip(case.questions, answers, strict=True):
        found: Counter = Counter()
        for row in rows:
            cell = cell_of(question.cells, row)
            if cell is None or not passes(question.where, row):
                continue
            label = row[question.label] if question.label is not None else 0
            found["total", cell, label] += 1
            found.update(("count", n, cell, row[n], label) for n in question.columns)
            for name in question.sums:
                found["sum", name, cell] += row[name]
        told: Counter = Counter()
        for (cell, label), number in _filled(tally.totals):
            told["total", cell, label] = number
        for name, array in tally.columns.items():
            told.update({("count", name, *at): number for at, number in _filled(array)})
        for name, array in tally.sums.items():
            told.update({("sum", name, *at): number for at, number in _filled(array)})
        assert +told == +found


def _filled(array):
    return [(tuple(at), int(array[tuple(at)])) for at in zip(*map(list, array.nonzero()), strict=True)]
