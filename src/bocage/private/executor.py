"""Where questions are answered: charged, counted, made noisy, released; or only priced."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from bocage.accounting import Account
from bocage.documents.writing import canonical_text
from bocage.engine.base import Engine
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import BocageError, EngineError, RefusedVariant
from bocage.mechanisms import Noise
from bocage.plan import Cells, Tally
from bocage.private.answer import Answer, Kind
from bocage.private.query import CellQuery, Fit, Place, Query, StorableQuery, Terms
from bocage.private.transcript import Asked, Transcript

_LOG = logging.getLogger("bocage.private")
_LONGEST_MEMO = 16_384
_LONGEST_KNOWN, _MOST_KNOWN = 2**12, 256  # questions that are not looked at again
Drawn = TypeVar("Drawn")


def _undeclared(version: str | None) -> None:
    """Without a ledger there is nothing to declare a version to."""


class Payer(Protocol):
    """Whoever pays for a release out of a reservation, and has it written down."""

    def charge(self, epsilon: Epsilon, memo: str) -> int: ...

    def write(self, transcript: Transcript, asked: Asked, terms: Terms, cells: Cells) -> None:
        """Enter a release to these cells into the transcript of the reservation."""
        ...


class Executor(Protocol):
    """Answers questions about one table on behalf of one account."""

    @property
    def terms(self) -> Terms: ...

    @property
    def has_ledger(self) -> bool: ...

    @property
    def is_moving(self) -> bool:
        """Whether the rows can change at any moment, so that no two questions share a maximum."""
        ...

    def account(self, account: Account, place: Place) -> Account:
        """The account that pays for the rows of a place as they are now."""
        ...

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer: ...


@dataclass(frozen=True)
class Pinned:
    """The rows as of one moment, their version, and the account that pays for a place in them."""

    engine: Engine
    version: str | None
    payer: Account


@dataclass(frozen=True)
class LiveExecutor:
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
    declare: Callable[[str | None], None] = _undeclared  # is told a version before it is charged
    transcript: Transcript | None = field(default=None, kw_only=True, repr=False, compare=False)
    _known: dict[tuple[Query, Place, str | None], tuple[str, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def is_moving(self) -> bool:
        return self.engine.version is None

    def account(self, account: Account, place: Place) -> Account:
        if not place.parts:
            return account
        return account_of(account, place, self.terms, version_of(self.engine, account))

    def pin(self, account: Account, place: Place, *, named: bool = True) -> Pinned:
        """The rows as of now, and who pays for them. A source that cannot be read is refused here.

        Without a ledger and parts, their version need not be `named`: that reads a file once more.
        """
        engine = self.engine.pin()
        named = named or self.has_ledger or bool(place.parts)
        version = version_of(engine, account) if named else None
        self.declare(version)
        return Pinned(engine, version, account_of(account, place, self.terms, version))

    @contextmanager
    def pinned(self, account: Account, place: Place) -> Iterator[Pinned]:
        """The same for one question."""
        now = self.pin(account, place)
        try:
            yield now
        finally:
            if now.engine is not self.engine:
                now.engine.close()

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer:
        with self.pinned(account, place) as now:
            fresh = fresh or now.version is None  # an answer about another moment is none
            key, memo = self._admitted(query, place, now.version)
            if self.remember and not fresh and (kept := now.payer.stored_answer(key)) is not None:
                answer = Answer.from_json(kept).as_kind(Kind.STORED, cost="0")
            else:
                number = now.payer.charge(query.epsilon, memo)
                answer = self._release(query, place, now.engine)
                answer = answer.as_kind(self.kind, entry=number if self.has_ledger else None)
                if self.remember:
                    # Two who asked at once get what was stored first; a fresh answer is its own.
                    own = answer.to_json().encode()
                    body = now.payer.store_answer(key, own, number)
                    answer = answer if fresh or body == own else Answer.from_json(body)
            left = str(now.payer.remaining()) if self.has_ledger else None
        return answer.as_kind(answer.kind, remaining=left)

    def once(
        self,
        query: StorableQuery[Drawn],
        place: Place,
        account: Account,
        *,
        key: str,
        about: Mapping[str, str | int],
        finish: Callable[[Drawn, int | None], bytes],
    ) -> bytes:
        """What is kept under a key; if nothing is, charge, draw, and keep what becomes of the draw.

        Privacy
        -------
        What is charged is drawn once: the draw is kept before `finish`, which is the caller's, sees
        it. If that fails, the next call finds the charge and the draw.
        """
        self._check(query, place)
        with self.pinned(account, place) as now:
            if (kept := now.payer.stored_answer(key)) is not None:
                return kept
            question = digest(facts_of(self.terms, query, place, None))
            memo = canonical_text({**about, "question": question})
            number = now.payer.charge(query.epsilon, memo, key)
            name = f"drawn {_digest(key)}"
            if (drawn := now.payer.stored_answer(name)) is None:
                own = query.to_bytes(self._shielded(query, place, query.draw, now.engine))
                drawn = now.payer.store_answer(name, own, number)
            body = finish(query.from_bytes(drawn), number if self.has_ledger else None)
            return now.payer.store_answer(key, body, number)

    def draw(self, query: CellQuery[Drawn], place: Place, payer: Payer) -> Drawn:
        """Charge, count, draw: for the inner loop of a learner, which takes arrays."""
        self._check(query, place)
        payer.charge(query.epsilon, query.words())
        drawn = self._shielded(query, place, query.draw)
        self._write(query, place, payer)
        return drawn

    def fit(self, fit: Fit[Drawn], place: Place, payer: Payer) -> Drawn:
        """Charge, then let a fit read the rows, as often as it needs."""
        fit.check(self.terms, place)
        fit.rehearse(self.noise)
        payer.charge(fit.epsilon, fit.words())
        question = fit.question(place)
        drawn = self._guarded(lambda: fit.run(partial(self.engine.rows, question), self.terms, self.noise))
        self._write(fit, place, payer)
        return drawn

    def _write(self, asked: Asked, place: Place, payer: Payer) -> None:
        """Enter a release into the transcript of the reservation, if there is one."""
        if self.transcript is not None:
            payer.write(self.transcript, asked, self.terms, place.cells)

    def _admitted(self, query: Query, place: Place, version: str | None) -> tuple[str, str]:
        """Key and memo of a question that can be asked. All of it follows from the question, the
        public terms and the version, so that for one that came before, it is known.
        """
        admitted = self._known.get((query, place, version))
        if admitted is None:
            self._check(query, place)
            facts = facts_of(self.terms, query, place, version)
            text = canonical_text(facts)
            admitted = _digest(text), text if len(text) <= _LONGEST_MEMO else memo_of(facts)
            if len(text) <= _LONGEST_KNOWN:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[query, place, version] = admitted
        return admitted

    def _check(self, query: Query, place: Place) -> None:
        if self.has_ledger and not query.is_private:
            raise RefusedVariant(
                f"{query.words()}: this question is not differentially private and is refused on a table with a ledger."
            )
        query.check(self.terms, place)
        query.rehearse(self.terms, self.noise)

    def _release(self, query: Query, place: Place, engine: Engine) -> Answer:
        def finish(tally: Tally, terms: Terms, noise: Noise) -> Answer:
            return query.release(tally, terms, place, noise)

        return self._shielded(query, place, finish, engine)

    def _shielded(
        self,
        query: Query,
        place: Place,
        finish: Callable[[Tally, Terms, Noise], Drawn],
        engine: Engine | None = None,
    ) -> Drawn:
        exact = (engine or self.engine).answer  # no local may hold counts: tracebacks show locals
        return self._guarded(lambda: finish(query.gather(exact(query.questions(place))), self.terms, self.noise))

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
                "the question could not be answered. The charge stands; the owner's log has the kind of failure."
            )
        # Raised anew out here, so that neither its cause nor the frames that hold counts go along.
        failure.__cause__ = failure.__context__ = None
        raise failure.with_traceback(None)


@dataclass(frozen=True)
class Pricer:
    """Prices questions. It has no engine and no noise.

    It charges an account in memory that may spend `LARGEST`, of which `budget` is really left: what
    remains of the rest tells whether the ledger would refuse, partitions included.
    """

    terms: Terms
    rows: int | None
    budget: Epsilon
    is_moving: bool = False
    has_ledger: bool = False

    def account(self, account: Account, place: Place) -> Account:
        return account_of(account, place, self.terms, None if self.is_moving else "preview")

    def ask(self, query: Query, place: Place, account: Account, *, fresh: bool) -> Answer:
        query.check(self.terms, place)
        answer, account = query.preview(self.terms, place, self.rows), self.account(account, place)
        key, before = digest(facts_of(self.terms, query, place, None)), self._left(account)
        if not (fresh or self.is_moving) and account.stored_answer(key) is not None:
            return answer.as_kind(Kind.PREVIEW, cost="0", remaining=str(before), note="asked before: free")
        number = account.charge(query.epsilon, "preview")
        account.store_answer(key, b"", number)
        refused = query.epsilon > before
        note = "more than is left: would be refused" if refused else answer.note
        return answer.as_kind(Kind.PREVIEW, remaining=str(self._left(account)), note=note)

    def _left(self, account: Account) -> Epsilon:
        return Epsilon(max(0, account.remaining().nano - (LARGEST - self.budget.nano)))


class Blinds(Protocol):
    """Whatever names something private so that the name says nothing about it."""

    def blind(self, text: str) -> str: ...


def version_of(engine: Engine, account: Blinds) -> str | None:
    """The version of the rows as the ledger may keep it: nobody can guess rows and compare."""
    return None if engine.version is None else account.blind(engine.version)


def account_of(account: Account, place: Place, terms: Terms, version: str | None) -> Account:
    """The account that pays for the rows of a place.

    Privacy
    -------
    Parts of a partition are disjoint on one schema and in one version of the rows: the same person
    may be in another part when either changes. So both are named where a maximum is charged. Where
    rows can change at any moment, each moment is a version of its own; versions add, so that the
    account of the whole table is charged.
    """
    if version is None:
        return account
    for geometry, number in place.parts:
        names = [terms.schema.encoding, version, geometry]
        account = account.partition(digest(names)).part(str(number))
    return account


def facts_of(terms: Terms, query: Query, place: Place, version: str | None) -> dict[str, Any]:
    """A question about one version of the rows as plain data: equal questions, equal facts."""
    each = query.each if isinstance(query, CellQuery) else ()
    return {
        "table": terms.schema.name,
        "schema": terms.schema.encoding,
        "version": version,
        "adjacency": terms.adjacency.value,
        **query.describe(),
        **({"each": [str(epsilon) for epsilon in each]} if each else {}),
        **place.describe(),
    }


def digest(facts: object) -> str:
    """A name that only these facts have."""
    return _digest(canonical_text(facts))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def memo_of(facts: dict[str, Any]) -> str:
    """What the ledger keeps of a question: all of it, or the hashes of its long parts."""
    text = canonical_text(facts)
    if len(text) <= _LONGEST_MEMO:
        return text
    short = {
        key: value
        if len(piece := canonical_text({"": value})) <= 512
        else f"sha256:{hashlib.sha256(piece.encode()).hexdigest()}"
        for key, value in facts.items()
    }
    return canonical_text(short)
