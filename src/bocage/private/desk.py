"""Where questions are answered: charged, counted, made noisy, released; or only priced."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from bocage.accounting import Account
from bocage.engine.base import Engine
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import BocageError, EngineError
from bocage.mechanisms import Noise
from bocage.plan import Tally
from bocage.private.answer import Answer, Kind
from bocage.private.query import Fit, Place, Query, Terms

_LOG = logging.getLogger("bocage.private")
_LONGEST_MEMO = 16_384
_LONGEST_KNOWN, _MOST_KNOWN = 2**12, 256  # questions that are not looked at again
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
Drawn = TypeVar("Drawn")


class Payer(Protocol):
    """Whoever pays for a question: an account, or cells that pay for themselves."""

    def charge(self, epsilon: Epsilon, memo: str) -> int: ...


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
    _known: dict[tuple[Query, Place], tuple[str, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer:
        key, memo = self._admitted(query, place)
        if self.remember and not fresh and (kept := account.stored_answer(key)) is not None:
            answer = Answer.from_json(kept).as_kind(Kind.STORED, cost="0")
        else:
            number = account.charge(query.epsilon, memo)
            answer = self._release(query, place)
            answer = answer.as_kind(self.kind, entry=number if self.has_ledger else None)
            if self.remember:
                # Two who asked at once both get what was stored first; a fresh answer is its own.
                own = answer.to_json().encode()
                body = account.store_answer(key, own, number)
                answer = answer if fresh or body == own else Answer.from_json(body)
        left = str(account.remaining()) if self.has_ledger else None
        return answer.as_kind(answer.kind, remaining=left)

    def draw(
        self,
        query: Query,
        place: Place,
        account: Payer,
        finish: Callable[[Tally, Terms, Noise], Drawn],
    ) -> Drawn:
        """Charge, count, draw: for the inner loop of a learner, which takes arrays."""
        self._check(query, place)
        account.charge(query.epsilon, query.words())
        return self._shielded(query, place, finish)

    def fit(self, fit: Fit[Drawn], place: Place, account: Payer) -> Drawn:
        """Charge, then let a fit read the rows, as often as it needs."""
        fit.check(self.terms, place)
        fit.rehearse(self.noise)
        account.charge(fit.epsilon, fit.words())
        question = fit.question(place)
        return self._guarded(
            lambda: fit.run(partial(self.engine.rows, question), self.terms, self.noise)
        )

    def _admitted(self, query: Query, place: Place) -> tuple[str, str]:
        """Key and memo of a question that can be asked. All of it follows from the question and the
        public terms, so that for one that came before, it is known."""
        found = self._known.get((query, place))
        if found is None:
            self._check(query, place)
            facts = facts_of(self.terms, query, place)
            text = canonical(facts)
            found = _digest(text), text if len(text) <= _LONGEST_MEMO else memo_of(facts)
            if len(text) <= _LONGEST_KNOWN:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[query, place] = found
        return found

    def _check(self, query: Query, place: Place) -> None:
        query.check(self.terms, place)
        query.rehearse(self.terms, self.noise)

    def _release(self, query: Query, place: Place) -> Answer:
        def finish(tally: Tally, terms: Terms, noise: Noise) -> Answer:
            return query.release(tally, terms, place, noise)

        return self._shielded(query, place, finish)

    def _shielded(
        self, query: Query, place: Place, finish: Callable[[Tally, Terms, Noise], Drawn]
    ) -> Drawn:
        exact = self.engine.answer  # no local may hold counts: tracebacks show locals
        return self._guarded(
            lambda: finish(query.gather(exact(query.questions(place))), self.terms, self.noise)
        )

    @staticmethod
    def _guarded(work: Callable[[], Drawn]) -> Drawn:
        failure: BocageError
        try:
            return work()
        except BocageError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - whatever it says may quote a row
            _LOG.error("a release failed with %s", type(error).__name__)
            failure = EngineError(
                "the question could not be answered. The charge stands; "
                "the owner's log has the kind of failure."
            )
        # Raised anew out here, so that neither its cause nor the frames that hold counts go along.
        failure.__cause__ = failure.__context__ = None
        raise failure.with_traceback(None)


@dataclass(frozen=True)
class PreviewDesk:
    """Prices questions. It has no engine and no noise.

    It charges an account in memory that may spend `LARGEST`, of which `budget` is really left: what
    remains of the rest tells whether the ledger would refuse, partitions included.
    """

    terms: Terms
    rows: int | None
    budget: Epsilon
    has_ledger: bool = False

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer:
        query.check(self.terms, place)
        answer = query.preview(self.terms, place, self.rows)
        key, before = key_of(facts_of(self.terms, query, place)), self._left(account)
        if not fresh and account.stored_answer(key) is not None:
            return answer.as_kind(
                Kind.PREVIEW, cost="0", remaining=str(before), note="asked before: free"
            )
        number = account.charge(query.epsilon, "preview")
        account.store_answer(key, b"", number)
        refused = query.epsilon > before
        note = "more than is left: would be refused" if refused else answer.note
        return answer.as_kind(Kind.PREVIEW, remaining=str(self._left(account)), note=note)

    def _left(self, account: Account) -> Epsilon:
        return Epsilon(max(0, account.remaining().nano - (LARGEST - self.budget.nano)))


def facts_of(terms: Terms, query: Query, place: Place) -> dict[str, Any]:
    """A question as plain data: equal questions, equal facts."""
    table = {"table": terms.schema.name, "schema": terms.schema.fingerprint}
    return {
        **table,
        "adjacency": terms.adjacency.value,
        **query.describe(),
        **place.describe(),
    }


def key_of(facts: dict[str, Any]) -> str:
    return _digest(canonical(facts))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(facts: dict[str, Any]) -> str:
    return _CANONICAL.encode(facts)


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
