"""What a learner will ask, and what each question costs: known before any row is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bocage.documents.writing import canonical_text
from bocage.epsilon import Epsilon
from bocage.model import PlanLine


@dataclass(frozen=True)
class Step:
    """One question to all open nodes of a level."""

    level: int
    question: str
    mechanism: str
    epsilon: Epsilon
    queries: int = 1  # into how many equal queries the share is split


@dataclass(frozen=True)
class Plan:
    """The questions along the longest path of a tree; their shares add up to the budget exactly.

    It is a preview: what will be asked, at most. What was asked stands in the certificate of the model, which the
    executor writes. A path that ends early gives what it has left to the counts of its leaf, so that every path spends
    the whole budget; in the variants named ``printed`` it stays unspent, as in the papers.
    """

    learner: str
    budget: Epsilon
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if Epsilon.total([step.epsilon for step in self.steps]) != self.budget:
            raise AssertionError("the shares of a plan must add up to its budget")

    def share(self, level: int, question: str) -> Epsilon:
        """The share of one question."""
        return next(s.epsilon for s in self.steps if s.level == level and s.question == question)

    def memo(self, **parameters: Any) -> str:
        """What the ledger keeps of the plan."""
        facts = {"learner": self.learner, "epsilon": str(self.budget), **parameters}
        return canonical_text(facts)

    def lines(self) -> tuple[PlanLine, ...]:
        return tuple(PlanLine(s.level, s.question, s.mechanism, str(s.epsilon), s.queries) for s in self.steps)

    def __rich__(self) -> Any:
        from rich.table import Table  # noqa: PLC0415 - rich loads only when drawing

        table = Table(title=f"{self.learner}: plan for epsilon {self.budget}", title_style="bold")
        for name in ("level", "question", "mechanism", "epsilon", "share"):
            table.add_column(name, justify="right" if name in {"epsilon", "share"} else "left")
        for step in self.steps:
            share = 100 * step.epsilon.nano / self.budget.nano
            asked = step.question + (f" × {step.queries}" if step.queries > 1 else "")
            table.add_row(str(step.level), asked, step.mechanism, str(step.epsilon), f"{share:.1f} %")
        table.add_row("", "total along a path", "", str(self.budget), "100 %", style="bold")
        return table


def equal_shares(budget: Epsilon, steps: list[tuple[int, str, str]]) -> tuple[Step, ...]:
    """Give every question the same share, to the last unit."""
    shares = budget.split([1] * len(steps))
    return tuple(Step(*step, share) for step, share in zip(steps, shares, strict=True))
