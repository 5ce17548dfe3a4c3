"""One scope as its user sees it: in a ledger, or in memory inside what was reserved."""

from __future__ import annotations

from typing import Protocol

from bocage.accounting.entry import Entry
from bocage.accounting.ledger import Ledger
from bocage.accounting.memory import MemoryAccount
from bocage.accounting.scope import Scope
from bocage.epsilon import Epsilon


class Account(Protocol):
    """What a question needs of the accounting."""

    @property
    def scope(self) -> Scope: ...

    def charge(self, epsilon: Epsilon, memo: str, request: str | None = None) -> int:
        """Charge before reading; return the number of the ledger entry that pays."""
        ...

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount:
        """Charge `epsilon` at once; return an account in memory that may spend it in pieces."""
        ...

    def partition(self, name: str) -> Account: ...

    def part(self, name: str) -> Account: ...

    def spent(self) -> Epsilon: ...

    def remaining(self) -> Epsilon: ...

    def store_answer(self, key: str, body: bytes, number: int, also: str | None = None) -> bytes:
        """Keep an answer; return the one to release, which is the first that was kept.

        `also` is a second key under which it is kept as well, in the same transaction.
        """
        ...

    def stored_answer(self, key: str) -> bytes | None: ...

    def blind(self, text: str) -> str:
        """A name for something private; the same in this account and all that is reserved of it."""
        ...


class LedgerAccount:
    """A scope of a ledger."""

    def __init__(self, ledger: Ledger, scope: Scope) -> None:
        self._ledger = ledger
        self._scope = scope

    @property
    def scope(self) -> Scope:
        return self._scope

    def charge(self, epsilon: Epsilon, memo: str, request: str | None = None) -> int:
        return self.enter(epsilon, memo, request).number

    def enter(self, epsilon: Epsilon, memo: str, request: str | None = None, *, lasting: bool = True) -> Entry:
        """Charge as `charge` does; return the whole entry."""
        return self._ledger.charge(self._scope, epsilon, memo, request, lasting=lasting)

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount:
        """Charge `epsilon` as one entry; the pieces spent of it do not wait for the disk.

        Privacy
        -------
        What is reserved counts as spent, whether or not it is used, also after a crash.
        """
        number = self.charge(epsilon, memo)
        return MemoryAccount.of(epsilon, scope=self._scope, number=number, blind=self.blind)

    def partition(self, name: str) -> LedgerAccount:
        return LedgerAccount(self._ledger, self._scope.partition(name))

    def part(self, name: str) -> LedgerAccount:
        return LedgerAccount(self._ledger, self._scope.part(name))

    def spent(self) -> Epsilon:
        return self._ledger.spent(self._scope)

    def remaining(self) -> Epsilon:
        return self._ledger.remaining(self._scope)

    def store_answer(
        self,
        key: str,
        body: bytes,
        number: int,
        also: str | None = None,
        *,
        lasting: bool = True,
    ) -> bytes:
        return self._ledger.store_answer(self._scope, key, body, number, also, lasting=lasting)

    def paid_answer(self, number: int) -> bytes | None:
        """An answer that entry `number` paid for, whatever it is kept under."""
        return self._ledger.paid_answer(self._scope, number)

    def stored_answer(self, key: str) -> bytes | None:
        return self._ledger.stored_answer(self._scope, key)

    def blind(self, text: str) -> str:
        return self._ledger.blind(text)
