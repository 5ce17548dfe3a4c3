"""Where questions are answered: charged, counted, made noisy, released; or only priced."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from bocage.accounting import Account
from bocage.engine.base import Engine
from bocage.epsilon import Epsilon
from bocage.errors import BocageError, EngineError
from bocage.mechanisms import Noise
from bocage.plan import Tally
from bocage.private.answer import Answer, Kind
from bocage.private.query import Place, Query, Terms

_LOG = logging.getLogger("bocage.private")
_LONGEST_MEMO = 16_384
Drawn = TypeVar("Drawn")


class Desk(Protocol):
    """Answers questions about one table on behalf of one account."""

    @property
    def terms(self) -> Terms: ...

    @property
    def has_ledger(self) -> bool: ...

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer: ...


@dataclass(frozen=True)
class LiveDesk:
    """Charges first, then reads.

    Privacy
    -------
    The order of `ask` is the rule of the house: refuse what cannot be asked, charge durably, read,
    add noise, release. Whatever fails after the charge leaves the charge in place. The price is the
    query's epsilon, and no branch taken before the charge looks at the table.
    """

    terms: Terms
    engine: Engine
    noise: Noise
    kind: Kind = Kind.RELEASE
    has_ledger: bool = True
    remember: bool = True

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer:
        query.check(self.terms, place)
        facts = self._facts(query, place)
        key = hashlib.sha256(canonical(facts).encode()).hexdigest()
        if self.remember and not fresh and (kept := account.stored_answer(key)) is not None:
            return Answer.from_json(kept).as_kind(
                Kind.STORED, cost="0", remaining=str(account.remaining())
            )
        number = account.charge(query.epsilon, memo_of(facts))
        answer = self._release(query, place)
        if self.has_ledger:
            answer = answer.as_kind(self.kind, entry=number)
        if self.remember:
            # A fresh answer has a key of its own, so that it does not replace the first one.
            slot = key if not fresh else hashlib.sha256(f"{key} {number}".encode()).hexdigest()
            body = account.store_answer(slot, answer.to_json().encode(), number)
            answer = Answer.from_json(body)
        return answer.as_kind(self.kind, remaining=str(account.remaining()))

    def draw(
        self,
        query: Query,
        place: Place,
        account: Account,
        finish: Callable[[Tally, Terms, Noise], Drawn],
    ) -> Drawn:
        """Charge, count, draw: for the inner loop of a learner, which takes arrays."""
        query.question(place).check(self.terms.schema)
        account.charge(query.epsilon, query.words())
        return self._shielded(query, place, finish)

    def _release(self, query: Query, place: Place) -> Answer:
        def finish(tally: Tally, terms: Terms, noise: Noise) -> Answer:
            return query.release(tally, terms, place, noise)

        return self._shielded(query, place, finish)

    def _shielded(
        self, query: Query, place: Place, finish: Callable[[Tally, Terms, Noise], Drawn]
    ) -> Drawn:
        try:
            (tally,) = self.engine.answer([query.question(place)])
            return finish(tally, self.terms, self.noise)
        except BocageError:
            raise
        except Exception as error:  # noqa: BLE001 - nothing of the table may leave in a traceback
            _LOG.error("a release failed with %s", type(error).__name__)
            raise EngineError(
                "the question could not be answered. The charge stands; "
                "the owner's log has the kind of failure."
            ) from None

    def _facts(self, query: Query, place: Place) -> dict[str, Any]:
        schema = self.terms.schema
        table = {"table": schema.name, "schema": schema.fingerprint}
        return {
            **table,
            "adjacency": self.terms.adjacency.value,
            **query.describe(),
            **place.describe(),
        }


@dataclass(frozen=True)
class PreviewDesk:
    """Prices questions. It has no engine and no noise."""

    terms: Terms
    rows: int | None
    budget: Epsilon
    has_ledger: bool = False

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer:  # noqa: ARG002
        query.check(self.terms, place)
        account.charge(query.epsilon, "preview")
        answer = query.preview(self.terms, place, self.rows)
        spent = account.spent()
        left = self.budget - spent if spent <= self.budget else Epsilon(0)
        note = answer.note if spent <= self.budget else "more than is left: would be refused"
        return answer.as_kind(Kind.PREVIEW, remaining=str(left), note=note)


def canonical(facts: dict[str, Any]) -> str:
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def memo_of(facts: dict[str, Any]) -> str:
    """What the ledger keeps of a question: all of it, or the hashes of its long parts."""
    text = canonical(facts)
    if len(text) <= _LONGEST_MEMO:
        return text
    short = {
        key: value
        if len(piece := canonical({"": value})) <= 512
        else f"sha256:{hashlib.sha256(piece.encode()).hexdigest()}"
        for key, value in facts.items()
    }
    return canonical(short)
