"""What a ledger adds to the database it is kept in: its secret, its anchor, and typed transactions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

from bocage.accounting.algebra import Balance
from bocage.accounting.anchor import AnchorLink
from bocage.accounting.entry import Entry
from bocage.accounting.scope import Scope
from bocage.accounting.secret import Secret
from bocage.accounting.verification import Head
from bocage.errors import LedgerError
from bocage.storage import Store, Transaction

T = TypeVar("T")


class LedgerTransaction(Transaction):
    """A transaction that changes a ledger.

    It holds the write lock, so that what one who shares it has read or written is not read again by
    the next.

    Attributes
    ----------
    balances
        Of the scopes on the paths of the entries that were appended.
    appended
        The last entry that was appended in this transaction.
    head
        The last entry that it saw: what an anchor has to name by the end.
    boot_id, secret
        Of the store.
    """

    __slots__ = ("appended", "balances", "boot_id", "head", "secret")

    def __init__(self, store: LedgerStore, connection: Any) -> None:
        super().__init__(store.run, connection)
        self.balances: dict[Scope, Balance] = {}
        self.appended: Entry | None = None
        self.head: Head | None = None
        self.boot_id, self.secret = store.boot_id, store.secret

    def require_secret(self) -> Secret:
        return _require(self.secret)


class LedgerStore(Store):
    """A store whose transactions are those of a ledger.

    Attributes
    ----------
    boot_id
        The run of the machine, where the ledger records it: see `machine_run.py`.
    secret
        Of the ledger, once it is open.
    anchor
        What ties the ledger to its anchor, if it has one.
    """

    boot_id: str | None = None
    secret: Secret | None = None
    anchor: AnchorLink | None = None

    @abstractmethod
    def upgrade(self) -> None:
        """Give a ledger of an older format what this one has, in one transaction."""

    def require_secret(self) -> Secret:
        return _require(self.secret)

    def transaction(self, connection: Any) -> LedgerTransaction:
        return LedgerTransaction(self, connection)

    def write(self) -> AbstractContextManager[LedgerTransaction]:
        return cast("AbstractContextManager[LedgerTransaction]", super().write())

    def do(self, body: Callable[[LedgerTransaction], T], *, lasting: bool = True) -> T:
        general = cast("Callable[[Transaction], T]", body)  # `transaction` makes no others
        return super().do(general, lasting=lasting)

    def before_write(self) -> None:
        """Refuse if the anchor could not follow."""
        super().before_write()
        if self.anchor is not None:
            self.anchor.require_ready()

    def after_commit(self, transaction: Transaction) -> None:
        """Let the anchor name the last entry, before anybody gets an answer."""
        super().after_commit(transaction)
        if self.anchor is None or not isinstance(transaction, LedgerTransaction):
            return
        if transaction.head is not None:
            self.anchor.follow(transaction.head)


def _require(secret: Secret | None) -> Secret:
    if secret is None:
        raise LedgerError("the ledger was opened to be looked at (check=False). Open it as usual to use it.")
    return secret
