"""Where the questions of a remote table are answered: at the service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bocage.accounting import Account
from bocage.client.transport import Transport, document
from bocage.epsilon import Epsilon
from bocage.errors import PlanError, ServiceError
from bocage.private import Answer
from bocage.private.choose import Candidate, Choose, Mode
from bocage.private.count import Count, Counts
from bocage.private.quantile import Quantile
from bocage.private.query import Place, Query, Terms
from bocage.private.sums import Average, Sum

Step = dict[str, Any]


@dataclass(frozen=True)
class RemoteExecutor:
    """Sends questions as data: the steps to the rows that are asked about, and what is asked.

    Privacy
    -------
    Charge, count and noise happen at the service. What is checked here is public, and checked there
    again.
    """

    link: Transport
    table: str
    terms: Terms
    steps: tuple[Step, ...] = ()
    has_ledger: bool = True
    is_moving: bool = False

    def after(self, step: Step) -> RemoteExecutor:
        """The executor for questions about what one more step leads to."""
        return replace(self, steps=(*self.steps, step))

    @property
    def plan(self) -> list[Step]:
        return list(self.steps)

    def ask(
        self,
        query: Query,
        place: Place,
        account: Account,  # noqa: ARG002 - of all executors; this one's are kept at the service
        *,
        fresh: bool,
    ) -> Answer:
        query.check(self.terms, place)  # refused in the same words as there, and sooner
        body = {"plan": self.plan, "ask": asked(query), "fresh": fresh}
        found = self.link.post("tables", self.table, "query", body=body)
        try:
            return Answer.from_json(found)
        except (ValueError, KeyError, TypeError):
            raise ServiceError(
                "the answer is not in the form of version 1: client and service do not fit."
            ) from None

    def account(self, account: Account, place: Place) -> Account:  # noqa: ARG002 - as of all executors
        return account

    def balance(self, patience: float | None = None) -> dict[str, Any]:
        """What the account of these rows has spent, and what remains, kept at the service."""
        found: dict[str, Any]
        if not self.steps:
            found = self.link.get("tables", self.table, patience=patience)
        else:
            path, body = ("tables", self.table, "account"), {"plan": self.plan}
            found = document(self.link.read(*path, body=body, patience=patience))
        return found


def amount(text: str) -> Epsilon:
    """An amount as it travels; unlike what is asked, it may be 0."""
    return Epsilon.of(text) if text != "0" else Epsilon(0)


def asked(query: Query) -> dict[str, Any]:
    """A question as the document that the service reads."""
    epsilon = {"epsilon": str(query.epsilon)}
    match query:
        case Count():
            return {"kind": "noisy_count", **epsilon}
        case Counts(columns=columns):
            return {"kind": "noisy_counts", "by": list(columns), **epsilon}
        case Sum(column=column):
            return {"kind": "noisy_sum", "column": column, **epsilon}
        case Average(column=column):
            return {"kind": "noisy_avg", "column": column, **epsilon}
        case Quantile(column=column, level=level):
            return {"kind": "noisy_quantile", "column": column, "level": str(level), **epsilon}
        case Mode(column=column, selection=selection):
            return {
                "kind": "noisy_mode",
                "column": column,
                "selection": selection.value,
                **epsilon,
            }
        case Choose(candidates=candidates, label=label, selection=selection):
            return {
                "kind": "choose",
                "among": _among(candidates),
                "criterion": query.criterion.name,
                "label": label,
                "selection": selection.value,
                **epsilon,
            }
    raise PlanError(f"{type(query).__name__} is no question that a service answers.")


def _among(candidates: tuple[tuple[Candidate, ...], ...]) -> list[Any]:
    """The columns of each cell; said once if they are the same for all."""
    names = [[one.column for one in cell] for cell in candidates]
    return names[0] if all(cell == names[0] for cell in names) else names
