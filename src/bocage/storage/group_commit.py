"""Group commit: threads that write at the same time share one transaction and one wait for the disk.

The first writer is the leader. Those who come while it writes queue up; it runs their changes in its
own transaction, commits once, and wakes them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from bocage.errors import LedgerBusy, LedgerError

if TYPE_CHECKING:
    from bocage.storage.store import Store, Transaction

MOST_TOGETHER = 256

T = TypeVar("T")


class Change:
    """What a thread wants to write; without a body, it writes by itself once it is the leader."""

    __slots__ = ("body", "error", "lasting", "leader", "result", "wake")

    def __init__(self, body: Callable[[Transaction], Any] | None, *, lasting: bool = True) -> None:
        self.body = body
        self.lasting = lasting  # whether it has to survive the end of the machine
        self.result: Any = None
        self.error: Exception | None = None
        self.leader: Change | None = None  # whose thread makes the change
        self.wake: threading.Lock | None = None  # held while its thread waits

    def settle(self, error: Exception | None) -> None:
        self.error = error
        if self.wake is not None:
            self.wake.release()


class Writers:
    """The writing threads of a store in one process: one leader, and a queue behind it.

    The leader runs the queued changes one after another in one transaction, while their threads
    sleep: far cheaper than to hand the connection from thread to thread. Who comes too late for the
    commit leads the next one.

    Privacy
    -------
    Nobody goes on before the commit that makes the own change durable. Inside the transaction each
    sees the charges of those before: what is checked and recorded is what one after another would
    be. One that fails does so alone; if the commit fails, it fails for all of them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()  # for the two below
        self._leader: Change | None = None
        self._queue: deque[Change] = deque()

    def do(self, body: Callable[[Transaction], T], *, lasting: bool = True) -> T:
        """Run `body` in a transaction, in this thread or another; return when it is durable.

        One that need not be lasting is not lost with a process, but perhaps with the machine.

        The body may be run again, if another that shares the transaction spoils it: it changes
        nothing but the store.
        """
        mine = Change(body, lasting=lasting)
        self._make(mine)
        error, mine.error = mine.error, None
        if error is None:
            result: T = mine.result
            return result
        try:
            raise error
        finally:
            del error  # no cycle with the frames of its own traceback

    def _make(self, change: Change) -> None:
        """Make a change, here or in the thread of another leader; it knows its outcome then."""
        try:
            if self._enter(change):
                self._lead([change])
        except Exception as error:  # noqa: BLE001 - whoever wants the change raises it
            change.error = error
        finally:
            self._leave(change)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Lead a transaction that nobody shares."""
        mine, store = Change(None), self._store
        try:
            self._enter(mine)
            connection = store.begin_writing()
            transaction = store.transaction(connection)
            try:
                yield transaction
            except store.database_error as error:
                store.roll_back(connection)
                raise store.explain(error, committing=False) from error
            except BaseException:
                store.roll_back(connection)
                raise
            self._commit(transaction)
        finally:
            self._leave(mine)

    def _enter(self, mine: Change) -> bool:
        """Wait to become the leader; False if another leader has made the change meanwhile."""
        with self._lock:
            if self._leader is None:
                self._leader = mine
                return True
            mine.wake = threading.Lock()
            mine.wake.acquire()
            self._queue.append(mine)
        seconds = self._store.timeout_seconds
        woken = mine.wake.acquire(timeout=seconds)
        while not woken:
            with self._lock:
                if mine in self._queue:
                    raise LedgerBusy(
                        f"other threads held the ledger for more than {seconds:g} seconds. "
                        "Try again. Nothing was charged."
                    )
                forgotten = self._leader not in (mine, mine.leader)
            woken = mine.wake.acquire(timeout=0 if forgotten else seconds)
            if forgotten and not woken:
                raise LedgerError("the thread that wrote for several was interrupted. The charge may stand.")
        return self._leader is mine

    def _leave(self, mine: Change) -> None:
        """Make the next in the queue the leader; who gave up before is taken from the queue."""
        with self._lock:
            if self._leader is not mine:
                if mine in self._queue:
                    self._queue.remove(mine)
                return
            self._leader = self._queue.popleft() if self._queue else None
            if self._leader is not None and self._leader.wake is not None:
                self._leader.wake.release()

    def _lead(self, group: list[Change]) -> None:
        """As the leader: make the group's changes and those that come meanwhile, commit, wake all."""
        store = self._store
        failure: Exception | None = LedgerBusy(
            "the thread that wrote for several was interrupted. Try again. Nothing was charged."
        )
        try:
            while group:
                lasting = any(change.lasting for change in group)
                connection = store.begin_writing(lasting=lasting)
                transaction = store.transaction(connection)
                try:
                    sound = self._make_all(transaction, group, lasting=lasting)
                except BaseException:
                    store.roll_back(connection)
                    raise
                if sound and group:
                    failure = LedgerError("the commit was broken off (interrupted). The charge may stand.")
                    self._commit(transaction)
                    failure = None
                    break
                store.roll_back(connection)
        except Exception as error:  # noqa: BLE001 - it is raised in every thread of the group
            failure = error
        finally:
            for change in group:
                change.settle(failure)

    def _make_all(self, transaction: Transaction, group: list[Change], *, lasting: bool) -> bool:
        """Make all changes; who fails leaves the group. False if it may have left traces."""
        tried = made = 0
        while made < len(group) or self._take_in(group, MOST_TOGETHER - tried, lasting=lasting):
            change = group[made]
            tried += 1
            transaction.wrote = False
            try:
                change.result = change.body(transaction) if change.body else None
            except Exception as error:  # noqa: BLE001 - it is raised in its own thread
                del group[made]
                spoiled = isinstance(error, self._store.database_error)
                reported = self._store.explain(error, committing=False) if spoiled else error
                if spoiled:
                    reported.__cause__ = error
                change.settle(reported)
                if spoiled or transaction.wrote:
                    return False
            else:
                made += 1
        return True

    def _take_in(self, group: list[Change], room: int, *, lasting: bool = True) -> bool:
        """Take in those who queue, up to one that needs a more durable commit than this one."""
        before = len(group)
        with self._lock:
            while self._queue and self._queue[0].body and len(group) < before + room:
                if self._queue[0].lasting and not lasting:
                    break
                self._queue[0].leader = self._leader
                group.append(self._queue.popleft())
        return len(group) > before

    def _commit(self, transaction: Transaction) -> None:
        """Commit, and let the store look whether it holds: else nobody gets an answer."""
        store, connection = self._store, transaction.connection
        try:
            store.run(connection, "COMMIT", ())
            store.after_commit(transaction)
        except BaseException as error:
            store.discard(connection)
            if isinstance(error, store.database_error):
                raise store.explain(error, committing=True) from error
            if isinstance(error, Exception) and not isinstance(error, LedgerError):
                raise LedgerError(f"the commit was broken off ({error}). The charge may stand.") from error
            raise
        store.give_back(connection)
