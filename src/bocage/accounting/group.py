"""Threads that write at the same time share one transaction, and one wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bocage.errors import LedgerBusy, LedgerError

if TYPE_CHECKING:
    from bocage.accounting.store import Run, Store

MOST_TOGETHER = 256
_LOOK_SECONDS = 0.05


class Group:
    """One transaction of several threads. They take turns inside it, and all wait for its commit."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.size = 0  # how many have made their changes
        self.turns = 0  # how many have tried, also those who were refused
        self.done = threading.Event()
        self.error: Exception | None = None


class Writers:
    """The writing threads of a store in one process.

    Who comes while another has the turn joins the transaction when the turn is free, and whoever
    finds nobody waiting behind commits for all. A thread that fails takes back what it did alone.

    Privacy
    -------
    Nobody goes on before the commit that makes the own change durable. Inside the transaction each
    sees the charges of those before: what is checked and recorded is what one after another would
    be. If the commit fails, it fails for all of them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._coming = 0
        self._open: Group | None = None

    @contextmanager
    def write(self) -> Iterator[Run]:
        store = self._store
        group = self._enter()
        joined = group.size > 0
        try:
            try:
                if joined:
                    store.run(group.connection, "SAVEPOINT mine", ())
                yield lambda sql, *values: store.run(group.connection, sql, values)
                if joined:
                    store.run(group.connection, "RELEASE SAVEPOINT mine", ())
                group.size += 1
            except BaseException:
                self._undo(group, joined=joined)
                raise
            finally:
                self._leave(group)
        except store.database_error as error:
            raise store.explain(error, committing=False) from error
        self._await(group)

    def _enter(self) -> Group:
        """Take the turn; begin a transaction, or join the one that is open."""
        with self._lock:
            self._coming += 1
        try:
            taken = self._turn.acquire(timeout=self._store.timeout_seconds)
        finally:
            with self._lock:
                self._coming -= 1
        if not taken:
            raise LedgerBusy(
                f"other threads held the ledger for more than {self._store.timeout_seconds:g} "
                "seconds. Try again. Nothing was charged."
            )
        try:
            if self._open is None:
                self._open = Group(self._store.begin_writing())
        except BaseException:
            self._turn.release()
            raise
        self._open.turns += 1
        return self._open

    def _undo(self, group: Group, *, joined: bool) -> None:
        """Take back what one thread did; if that cannot be, what all of the group did."""
        try:
            if joined:
                self._store.run(group.connection, "ROLLBACK TO SAVEPOINT mine", ())
                self._store.run(group.connection, "RELEASE SAVEPOINT mine", ())
                return
        except self._store.database_error as error:
            group.error = error
        self._open = None
        if group.error is None:
            self._store.roll_back(group.connection)
        else:
            self._store.discard(group.connection)
        group.done.set()

    def _leave(self, group: Group) -> None:
        """Give up the turn; the last one commits."""
        try:
            if self._open is group and (not self._coming or group.turns >= MOST_TOGETHER):
                self._commit(group)
        finally:
            self._turn.release()

    def _commit(self, group: Group) -> None:
        self._open = None
        try:
            self._store.run(group.connection, "COMMIT", ())
        except BaseException as error:
            group.error = error if isinstance(error, Exception) else RuntimeError("interrupted")
            self._store.discard(group.connection)
            if not isinstance(error, self._store.database_error):
                raise
        else:
            self._store.give_back(group.connection)
        finally:
            group.done.set()

    def _await(self, group: Group) -> None:
        try:
            while not group.done.wait(_LOOK_SECONDS):
                if self._turn.acquire(blocking=False):  # who was to commit may have given up
                    self._leave(group)
        finally:  # also if this thread is interrupted: an open transaction keeps others waiting
            if not group.done.is_set():
                self._turn.acquire()
                self._leave(group)
        error = group.error
        if isinstance(error, self._store.database_error):
            raise self._store.explain(error, committing=True) from error
        if error is not None:
            raise LedgerError(f"the commit was broken off ({error}). The charge may stand.")
