"""Where the questions of a remote table are answered: at the service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bocage.accounting import Account
from bocage.client.transport import Transport, document
from bocage.epsilon import Epsilon
from bocage.errors import PlanError, ServiceError
from bocage.plan.documents import Step
from bocage.private import Answer
from bocage.private.query import Place, PortableQuery, Query, Terms


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
    def plan(self) -> list[dict[str, Any]]:
        """The steps as they travel."""
        return [step.wire() for step in self.steps]

    def ask(
        self,
        query: Query,
        place: Place,
        account: Account,  # noqa: ARG002 - of all executors; this one's are kept at the service
        *,
        fresh: bool,
    ) -> Answer:
        if not isinstance(query, PortableQuery):
            raise PlanError(f"{type(query).__name__} is no question that a service answers.")
        query.check(self.terms, place)  # refused in the same words as there, and sooner
        body = {"plan": self.plan, "ask": query.form().wire(), "fresh": fresh}
        answer = self.link.post("tables", self.table, "query", body=body)
        try:
            return Answer.from_json(answer)
        except (ValueError, KeyError, TypeError):
            raise ServiceError("the answer is not in the form of version 1: client and service do not fit.") from None

    def account(self, account: Account, place: Place) -> Account:  # noqa: ARG002 - as of all executors
        return account

    def balance(self, patience: float | None = None) -> dict[str, Any]:
        """What the account of these rows has spent, and what remains, kept at the service."""
        balance: dict[str, Any]
        if not self.steps:
            balance = self.link.get("tables", self.table, patience=patience)
        else:
            path, body = ("tables", self.table, "account"), {"plan": self.plan}
            balance = document(self.link.read(*path, body=body, patience=patience))
        return balance


def amount(text: str) -> Epsilon:
    """An amount as it travels; unlike what is asked, it may be 0."""
    return Epsilon.of(text) if text != "0" else Epsilon(0)
