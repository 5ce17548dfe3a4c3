"""Every kind of question, and an engine that tells when it is read."""

from __future__ import annotations

import pytest

from bocage.engine.reference import ReferenceEngine
from private.tables import PEOPLE, ROWS


class Watched(ReferenceEngine):
    """Calls back before it answers, and counts its scans."""

    def __init__(self, before=lambda: None):
        super().__init__(ROWS, PEOPLE)
        self.before, self.scans = before, 0

    def answer(self, questions):
        self.scans += 1
        self.before()
        return super().answer(questions)


QUESTIONS = {
    "count": lambda t, e: t.noisy_count(e),
    "counts": lambda t, e: t.noisy_counts("city", e),
    "joint counts": lambda t, e: t.noisy_counts(["city", "age"], e),
    "sum": lambda t, e: t.noisy_sum("income", e),
    "average": lambda t, e: t.noisy_avg("age", e),
    "quantile": lambda t, e: t.noisy_quantile("age", e, level="0.9"),
    "mode": lambda t, e: t.noisy_mode("city", e),
    "choose": lambda t, e: t.choose(["age", "city"], "gini", e),
    "choose thresholds": lambda t, e: t.choose(["age", "city"], "information_gain", e, selection="exponential"),
    "level": lambda t, e: t.partition("sex").choose(["age", "city"], "max", e),
    "part": lambda t, e: t.partition("sex")["F"].noisy_count(e),
    "filter": lambda t, e: t.where("age > 3").noisy_sum("age", e),
}
ALL = pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
