"""The tables that a worker has open. They open at its start or registration, not in a request."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import Any

from bocage.accounting import Account, Ledger, LedgerAccount, Scope, State
from bocage.errors import BocageError, NotFound, ScopeClosed, Unavailable
from bocage.learners import LEARNERS
from bocage.private import PrivateTable, ProtectedTable, protect
from bocage.private.owner import BATCHES
from bocage.service.core.accounts import Admission, WatchedAccount
from bocage.service.core.documents import AccountDocument, TableDocument
from bocage.service.core.registry import Registered, Registry

_LOG = logging.getLogger("bocage.service")


class Tables:
    """The registered tables of one worker process, and what analysts may do with them."""

    def __init__(self, registry: Registry, ledger: Ledger, ledger_address: str) -> None:
        self._registry, self.ledger, self._address = registry, ledger, ledger_address
        self._open: dict[str, tuple[Registered, ProtectedTable]] = {}
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Open what was registered since, close what was removed or registered anew."""
        with self._lock:
            known = {table.name: table for table in self._registry.tables()}
            for name, (opened, owner) in list(self._open.items()):
                if name not in known or not _same(known[name], opened):
                    del self._open[name]
                    owner.close()
            for name, table in known.items():
                if name not in self._open:
                    self._try(table)

    def _try(self, table: Registered) -> None:
        try:
            owner = protect(
                *(table.source, table.schema),
                ledger=self._address,
                anchor=self.ledger.anchor,
                cap=table.cap,
                adjacency=table.adjacency,
                noise=table.noise,
                batch=table.batch or None,
                snapshot=table.snapshot or None,
            )
        except BocageError as error:
            _LOG.error("table %s is not open: %s", table.name, error)
            return
        except Exception as error:  # noqa: BLE001 - whatever a driver says; other tables go on
            _LOG.error("table %s is not open: %s", table.name, type(error).__name__)
            return
        self._open[table.name] = (table, owner)
        _LOG.info("table %s is open", table.name)

    @property
    def names(self) -> list[str]:
        return sorted(self._open)

    def granted(self, analyst: str) -> list[tuple[Registered, str]]:
        """The tables of an analyst and the state of each."""
        known = {table.name: table for table in self._registry.tables()}
        grants = self._registry.grants(analyst)
        return [
            (known[name], self._state(known[name], analyst, grant)) for name, grant in grants.items() if name in known
        ]

    def registered(self, analyst: str, name: str) -> tuple[Registered, str]:
        """One table of an analyst. A table of others is as little there as none."""
        grant = self._registry.granted(analyst, name)
        if grant is not None:
            return grant[0], self._state(grant[0], analyst, grant[1])
        raise _not_there(name)

    def require_open(self, analyst: str, name: str) -> Registered:
        """The table, if the analyst may use it now."""
        table, state = self.registered(analyst, name)
        if state != "open":
            raise _closed(name, state)
        return table

    def asked_by(
        self, analyst: str, name: str, admission: Admission | None = None
    ) -> tuple[PrivateTable, WatchedAccount]:
        """A table as an analyst may ask it, and the account that it charges."""
        self.require_open(analyst, name)
        return self._opened(analyst, name, admission or Admission())

    def charged_by(
        self, analyst: str, name: str, admission: Admission, grant: str | None = None
    ) -> tuple[PrivateTable, WatchedAccount]:
        """The same for who will charge it: the ledger itself refuses what is closed by then.

        `grant` is what the registry said when the request came in, if it was asked.
        """
        state = grant or self._registry.grant_state(analyst, name)
        if state is None:
            raise _not_there(name)
        if state != "open":
            raise _closed(name, state)
        return self._opened(analyst, name, admission)

    def _opened(self, analyst: str, name: str, admission: Admission) -> tuple[PrivateTable, WatchedAccount]:
        opened = self._open.get(name)
        if opened is None:
            raise Unavailable(f"table {name!r} is being opened. Try again in a moment.")
        watched: list[WatchedAccount] = []

        def through(account: LedgerAccount) -> Account:
            watched.append(WatchedAccount(account, admission))
            return watched[0]

        table = opened[1].analyst(analyst, through=through)
        return table, watched[0]

    def is_ready(self, name: str) -> bool:
        return name in self._open

    def is_moving(self, name: str) -> bool:
        """Whether the rows may change at any moment; so it is said while the table is not open."""
        opened = self._open.get(name)
        return opened is None or opened[1].is_moving

    def account_documents(self, analyst: str) -> list[AccountDocument]:
        """What an analyst has of each table."""
        return [
            AccountDocument(table=table.name, **self._account(analyst, table, state))
            for table, state in self.granted(analyst)
        ]

    def documents(self, analyst: str) -> list[TableDocument]:
        """The tables of an analyst."""
        return [self._document(analyst, table, state) for table, state in self.granted(analyst)]

    def document(self, analyst: str, name: str) -> TableDocument:
        """One table of an analyst."""
        return self._document(analyst, *self.registered(analyst, name))

    def _document(self, analyst: str, table: Registered, state: str) -> TableDocument:
        facts: dict[str, Any] = {"schema": table.schema.to_dict(), "adjacency": table.adjacency}
        return TableDocument(
            name=table.name,
            batch=table.batch or None,
            ready=self.is_ready(table.name),
            moving=self.is_moving(table.name),
            learners=list(LEARNERS) if table.schema.label else [],
            **facts,
            **self._account(analyst, table, state),
        )

    def _account(self, analyst: str, table: Registered, state: str) -> dict[str, Any]:
        scope = Scope.table(table.scope).analyst(analyst)
        charged = scope.partition(BATCHES).part(table.batch) if table.batch else scope
        return {
            "cap": str(self.ledger.cap(scope) or 0),
            "spent": str(self.ledger.spent(charged)),
            "remaining": str(self.ledger.remaining(charged)) if state == "open" else "0",
            "state": state,
        }

    def close(self) -> None:
        with self._lock:
            for _, owner in self._open.values():
                owner.close()
            self._open.clear()

    def _state(self, table: Registered, analyst: str, grant: str) -> str:
        if grant != "open":
            return grant
        scope = Scope.table(table.scope)
        states = [self.ledger.balance(level).state for level in (scope, scope.analyst(analyst))]
        for state in (State.REVOKED, State.FROZEN):
            if state in states:
                return state.value
        return "revoked" if State.ABSENT in states else "open"


def _not_there(name: str) -> NotFound:
    return NotFound(f"there is no table {name!r} for this key. GET /v1/tables lists yours.")


def _closed(name: str, state: str) -> ScopeClosed:
    return ScopeClosed(f"table {name!r} is {state}. Ask the data owner. Nothing was charged.")


def _same(one: Registered, other: Registered) -> bool:
    return replace(one, cap=other.cap) == other
