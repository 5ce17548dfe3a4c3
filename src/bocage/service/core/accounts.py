"""An account as the service holds it: it knows whether a request was charged, and under which key."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bocage.accounting import LedgerAccount, MemoryAccount, Scope
from bocage.epsilon import Epsilon
from bocage.errors import AnswerLost
from bocage.service.core.errors import AFTER_CHARGE, place_of

_LOG = logging.getLogger("bocage.service")


def nothing(entry: int) -> None:
    """After the charge, go on at once."""


@dataclass
class Admission:
    """One request on its way: before its charge it may be told why it is refused, after it not.

    Attributes
    ----------
    request
        The key under which the ledger makes the charge once, or None.
    admitted
        Called with the entry after the charge and before a row is read.
    keep
        Whether the answer is also kept under the request, so that new noise that was paid for once
        is drawn once: for questions asked afresh.
    entry
        The ledger entry that pays, once there is one.
    left
        What the account had left right after the charge, if it was made by this very request.
    kept
        The answer that is kept under the request, if it is another than the one just made.
    """

    request: str | None = None
    admitted: Callable[[int], None] = nothing
    keep: bool = False
    entry: int | None = None
    left: Epsilon | None = None
    kept: bytes | None = None

    @property
    def lasting(self) -> bool:
        """Whether the answer has to outlive the machine: one that a request finds again need not.

        If it goes down with the machine, the ledger refuses the request from then on.
        """
        return self.request is None

    @property
    def name(self) -> str:
        """The key under which the answer to the request is kept.

        The ledger knows the request by what it charged for, so that another question never gets this
        answer, and the same one always does, however it is written.
        """
        return f"request {self.request}"


@contextmanager
def shielded(admission: Admission) -> Iterator[None]:
    """After the charge, let one opaque error out and nothing else."""
    try:
        yield
    except Exception as error:
        if admission.entry is None:
            raise
        _LOG.error(
            "entry %d was charged, then %s %s",
            admission.entry,
            type(error).__name__,
            place_of(error),
        )
        failed = True
    else:
        failed = False
    if failed:  # raised out here, so that neither the cause nor its frames go along
        raise AFTER_CHARGE.with_traceback(None)


class Answered(Exception):
    """The request was answered before: `Admission.kept` is what it gets."""


class WatchedAccount:
    """An account of the ledger that tells an `Admission` of its charges.

    Privacy
    -------
    It adds nothing to and takes nothing from what is charged: every call goes to the account.
    """

    def __init__(self, account: LedgerAccount, admission: Admission) -> None:
        self._account, self._admission = account, admission

    @property
    def scope(self) -> Scope:
        return self._account.scope

    def charge(self, epsilon: Epsilon, memo: str, request: str | None = None) -> int:
        admission = self._admission
        try:
            entry = self._account.enter(epsilon, memo, request or admission.request, lasting=admission.lasting)
        except AnswerLost:
            self._find_kept()
            raise
        if entry.repeated:
            self._find_kept(entry.number)
        admission.entry, admission.left = entry.number, entry.left
        admission.admitted(entry.number)
        return entry.number

    def _find_kept(self, paid: int | None = None) -> None:
        """What was kept for the request; under another name too, if it is known which entry paid for it."""
        admission = self._admission
        if admission.keep:
            admission.kept = self._account.stored_answer(admission.name)
            if admission.kept is None and paid is not None:
                admission.kept = self._account.paid_answer(paid)
            if admission.kept is not None:
                raise Answered

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount:
        number = self.charge(epsilon, memo)
        return MemoryAccount.of(epsilon, scope=self.scope, number=number, blind=self.blind)

    def partition(self, name: str) -> WatchedAccount:
        return WatchedAccount(self._account.partition(name), self._admission)

    def part(self, name: str) -> WatchedAccount:
        return WatchedAccount(self._account.part(name), self._admission)

    def spent(self) -> Epsilon:
        return self._account.spent()

    def remaining(self) -> Epsilon:
        left, self._admission.left = self._admission.left, None  # known without asking, once
        return self._account.remaining() if left is None else left

    def store_answer(self, key: str, body: bytes, number: int, also: str | None = None) -> bytes:
        lasting = self._admission.lasting
        if not self._admission.keep:
            return self._account.store_answer(key, body, number, also, lasting=lasting)
        name = self._admission.name  # one transaction, not two
        kept = self._account.store_answer(name, body, number, also=key, lasting=lasting)
        if kept != body:
            self._admission.kept = kept
        return kept

    def stored_answer(self, key: str) -> bytes | None:
        return self._account.stored_answer(key)

    def blind(self, text: str) -> str:
        return self._account.blind(text)
