"""A database as all rooms above use it: connections and transactions, the same for every kind."""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Protocol, TypeVar

from bocage.errors import LedgerError
from bocage.storage.group_commit import Writers

_FORK_SECONDS = 5.0

Value = int | str | bytes | None
T = TypeVar("T")


class Run(Protocol):
    """Run one statement inside a transaction and return its rows."""

    def __call__(self, sql: str, *values: Value) -> list[tuple[Any, ...]]: ...


class Transaction:
    """A transaction that writes. It is itself the function that runs its statements.

    Attributes
    ----------
    connection
        The connection of the database that it is open on.
    wrote
        Whether a statement may have changed something.
    """

    __slots__ = ("_execute", "connection", "wrote")

    def __init__(
        self,
        execute: Callable[[Any, str, tuple[Value, ...]], list[tuple[Any, ...]]],
        connection: Any,
    ) -> None:
        self._execute = execute
        self.connection = connection
        self.wrote = False

    def run(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        if not sql.startswith("SELECT"):
            self.wrote = True
        return self._execute(self.connection, sql, values)

    __call__ = run


class Store(ABC):
    """A database with one write lock, durable commits and any number of readers.

    A connection serves one transaction at a time and then waits in `_idle`, so any number of
    threads may use one store. A forked child starts with connections of its own.
    """

    at_hand: ClassVar[bool] = False  # a local file: only the disk is waited for
    begin_write: ClassVar[str]
    begin_read: ClassVar[str]
    take_lock: ClassVar[str]  # what takes the write lock, if beginning to write does not
    database_error: type[Exception]
    timeout_seconds: float

    def __init__(self) -> None:
        self._reset()
        _stores.add(self)
        try:
            self.recognize()
        except BaseException:
            self.close()
            raise

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Any] = []
        self._busy: list[Any] = []
        self._closed = False
        self._writers = Writers(weakref.proxy(self))  # no cycle: a dropped store closes at once

    @abstractmethod
    def recognize(self) -> None:
        """Refuse a database that holds something else, or that cannot be durable."""

    @abstractmethod
    def connect(self) -> Any:
        """Open a connection in autocommit mode."""

    @abstractmethod
    def run(self, connection: Any, sql: str, values: tuple[Value, ...]) -> list[tuple[Any, ...]]:
        """Run SQL with `?` for values."""

    def set_durability(self, connection: Any, *, lasting: bool) -> None:  # noqa: B027 - for those that can
        """Before a transaction: let its commit wait for the disk, or not if it need not be lasting."""

    @abstractmethod
    def hung_up(self, connection: Any) -> bool:
        """Whether the server has hung up on a connection."""

    @abstractmethod
    def explain(self, error: Exception, *, committing: bool) -> LedgerError:
        """The error to raise instead of one of the database's own."""

    def before_transaction(self) -> None:  # noqa: B027 - for those that can be replaced
        """Refuse a database that is no longer the one that was opened."""

    def before_write(self) -> None:  # noqa: B027 - for those that something else has to follow
        """Refuse a transaction that writes, after `before_transaction`."""

    def transaction(self, connection: Any) -> Transaction:
        """What the bodies of a transaction that writes are given."""
        return Transaction(self.run, connection)

    def after_commit(self, transaction: Transaction) -> None:  # noqa: B027 - the same
        """Refuse to go on if what was written is not where it will be looked for.

        Nobody whose change was committed has heard of it yet.
        """

    @abstractmethod
    def tables(self, run: Run) -> set[str]:
        """The names of the tables that are there."""

    def damage(self, run: Run) -> list[str]:  # noqa: ARG002 - for databases that can tell
        """What the database itself finds wrong with its files."""
        return []

    def write(self) -> AbstractContextManager[Transaction]:
        """Hold the write lock; on leaving, the changes are durable, or none was made."""
        return self._writers.write()

    def do(self, body: Callable[[Transaction], T], *, lasting: bool = True) -> T:
        """Run `body` as in `write` and return its result, cheaply where many threads write.

        Threads that write at the same time share a transaction; each can still fail alone. The
        body may run in another thread, and more than once until one commit keeps it. What need not
        be `lasting` may be lost with the machine, but not with a process.
        """
        return self._writers.do(body, lasting=lasting)

    def look(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """Run one statement that reads: it sees one consistent state without a transaction."""
        connection, rows = self._run_first(sql, values)
        self.give_back(connection)
        return rows

    @contextmanager
    def read(self) -> Iterator[Run]:
        """See one consistent state, without waiting for writers."""
        connection, _ = self._run_first(self.begin_read, ())
        try:
            yield lambda sql, *values: self.run(connection, sql, values)
            self.run(connection, "COMMIT", ())
        except self.database_error as error:
            self.discard(connection)
            raise self.explain(error, committing=False) from error
        except BaseException:
            self.roll_back(connection)
            raise
        else:
            self.give_back(connection)

    def begin_writing(self, *, lasting: bool = True) -> Any:
        """A connection in a transaction that holds the write lock; give it back or discard it."""
        connection, _ = self._run_first(self.begin_write, (), lasting=lasting)
        if self.take_lock:
            self._or_discard(connection, lambda: self.run(connection, self.take_lock, ()))
        return connection

    def _or_discard(self, connection: Any, work: Callable[[], object]) -> None:
        """Do something with a connection, which is of no use to anybody if that fails."""
        try:
            work()
        except BaseException as error:
            self.discard(connection)
            if isinstance(error, self.database_error):
                raise self.explain(error, committing=False) from error
            raise

    def _run_first(
        self, sql: str, values: tuple[Value, ...], *, lasting: bool | None = None
    ) -> tuple[Any, list[tuple[Any, ...]]]:
        """Run the first statement on an idle connection, or on a new one.

        One that a restarted server has dropped is replaced. Who reads does not care how the commits
        of a connection end.
        """
        while True:
            connection, reused = self._take_connection()
            try:
                self.before_transaction()
                if lasting is not None:
                    self.before_write()
                    self.set_durability(connection, lasting=lasting)
                rows = self.run(connection, sql, values)
            except BaseException as error:
                self.discard(connection)
                if not isinstance(error, self.database_error):
                    raise
                if not (reused and self.hung_up(connection)):
                    raise self.explain(error, committing=False) from error
            else:
                return connection, rows

    def _take_connection(self) -> tuple[Any, bool]:
        with self._lock:
            if self._closed:
                raise LedgerError("the ledger was closed.")
            if self._idle:
                self._busy.append(self._idle.pop())
                return self._busy[-1], True
        try:
            connection = self.connect()
        except self.database_error as error:
            raise self.explain(error, committing=False) from error
        with self._lock:
            self._busy.append(connection)
        return connection, False

    def give_back(self, connection: Any) -> None:
        """Keep a connection for the next transaction."""
        with self._lock:
            self._busy.remove(connection)
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def roll_back(self, connection: Any) -> None:
        """End a transaction without its changes."""
        try:
            self.run(connection, "ROLLBACK", ())
        except self.database_error:
            self.discard(connection)
        else:
            self.give_back(connection)

    def discard(self, connection: Any) -> None:
        """Close after a failure: that rolls back whatever state the transaction was in."""
        with self._lock:
            self._busy.remove(connection)
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        self.close_idle(idle)

    def close_idle(self, connections: list[Any]) -> None:
        """Close connections that nobody uses."""
        for connection in connections:
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_lock"):
            self.close()

    def _pause(self) -> None:
        """Before a fork: let nobody begin anything, and wait for those who have begun."""
        end = time.monotonic() + _FORK_SECONDS
        self._lock.acquire()
        while self.at_hand and self._busy and time.monotonic() < end:
            self._lock.release()
            time.sleep(0.001)
            self._lock.acquire()
        if self.at_hand:
            idle, self._idle = self._idle, []
            self.close_idle(idle)

    def _disown(self) -> None:
        """In a forked child: never touch the parent's connections again, not even to close them.

        Closing one, which dropping the last reference does too, would roll back or end the
        session that the parent is still using. An extra reference keeps them from that.
        """
        for connection in (*self._idle, *self._busy):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        closed, in_use = self._closed, self.at_hand and bool(self._busy)
        self._reset()
        self._closed = closed
        if in_use:
            self.note_fork_in_use()

    def note_fork_in_use(self) -> None:  # noqa: B027 - for those whose connections are not known by number
        """In a forked child: somebody was using the database in the parent just then."""


_stores: weakref.WeakSet[Store] = weakref.WeakSet()
_forking = threading.Lock()
_paused: list[Store] = []


def _before_fork() -> None:
    """Before a fork: what is open in a store would be taken for its own by the child's database."""
    _forking.acquire()
    for store in list(_stores):
        store._pause()  # noqa: SLF001 - this module's own class
        _paused.append(store)


def _after_fork_in_parent() -> None:
    while _paused:
        _paused.pop()._lock.release()  # noqa: SLF001 - this module's own class
    _forking.release()


def _after_fork_in_child() -> None:
    global _forking  # noqa: PLW0603 - the parent's is held
    _forking = threading.Lock()
    _paused.clear()
    for store in list(_stores):
        store._disown()  # noqa: SLF001 - this module's own class


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
