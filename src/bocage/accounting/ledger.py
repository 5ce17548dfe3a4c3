"""The ledger: every charge is on record before a row is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from bocage.accounting import algebra, chain, postgres, sqlite
from bocage.accounting.algebra import Action, Balance, State
from bocage.accounting.entry import Entry
from bocage.accounting.scope import Scope
from bocage.accounting.store import Run, Store
from bocage.accounting.verification import Head, Verification, export_lines
from bocage.epsilon import ZERO, Epsilon
from bocage.errors import LedgerError

TIMEOUT_SECONDS = 30.0


class Ledger:
    """Accounts of privacy loss in a database; `open_ledger` opens one.

    One ledger may be shared by threads and processes, and with PostgreSQL by hosts.

    Privacy
    -------
    A charge is one transaction that checks the scope and everything above it and is durable when
    it returns, or it changes nothing. There is no refund. Whatever crashes, the privacy loss of
    what was released is at most what the balances say.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def at_hand(self) -> bool:
        """Whether the ledger is a local file, not a database elsewhere."""
        return self._store.at_hand

    # What the data owner does

    def table(self, name: str, cap: Epsilon | None = None) -> Scope:
        """Open a table with a cap over all its analysts, or return it.

        Without `cap` the table must be there. With one, it must be the cap on record: changing it
        takes `set_cap`.
        """
        return self._open(Scope.table(name), cap)

    def analyst(self, table: Scope, name: str, cap: Epsilon | None = None) -> Scope:
        """Open an analyst's account of a table, or return it, as in `table`."""
        return self._open(table.analyst(name), cap)

    def set_cap(self, scope: Scope, cap: Epsilon, memo: str = "") -> Entry:
        """Change the cap of a table or an analyst; below what was spent, it leaves nothing."""
        return self._record(Action.CAP, scope, Epsilon.of(cap), memo)

    def freeze(self, scope: Scope, memo: str = "") -> Entry:
        """Refuse charges to a scope and everything below it until `thaw`."""
        return self._record(Action.FREEZE, scope, ZERO, memo)

    def thaw(self, scope: Scope, memo: str = "") -> Entry:
        """Accept charges to a frozen scope again."""
        return self._record(Action.THAW, scope, ZERO, memo)

    def revoke(self, scope: Scope, memo: str = "") -> Entry:
        """Refuse charges to a scope and everything below it for good."""
        return self._record(Action.REVOKE, scope, ZERO, memo)

    # What a question does

    def charge(
        self,
        scope: Scope,
        epsilon: Epsilon,
        memo: str,
        request: str | None = None,
        *,
        lasting: bool = True,
    ) -> Entry:
        """Charge a scope, durably, before the question reads a row.

        Parameters
        ----------
        scope
            A table, an analyst or a part; partitions and parts need no opening.
        epsilon
            What is charged at the scope. What follows above depends on the partitions between.
        memo
            Public text, as a rule the plan of the question as canonical JSON.
        request
            A key of the caller. Under the same key and scope, the same charge is made once: its
            first entry comes back with `repeated` set, unless the scope is closed by now.
        lasting
            Off if the answer will be kept by a `store_answer` that is not lasting either. Then the
            charge is repeated in the same run of the machine only.

        Raises
        ------
        BudgetExceeded, ScopeClosed, LedgerBusy, LedgerCorrupt
            Nothing was charged.
        AnswerLost
            The charge was made in another run of the machine, and is not `lasting`. Only an answer
            that `stored_answer` finds may be released.

        Privacy
        -------
        An entry pays for one released value. After a repeated one release nothing but what
        `store_answer` returns: it gives everybody the value that was stored first.
        """
        amount = Epsilon.of(epsilon)
        return self._record(Action.CHARGE, scope, amount, memo, request, lasting=lasting)

    def store_answer(
        self,
        scope: Scope,
        key: str,
        body: bytes,
        number: int,
        also: str | None = None,
        *,
        lasting: bool = True,
    ) -> bytes:
        """Keep an answer for which entry `number` paid; return the one that is kept under `key`.

        With `also`, it is kept under that key as well, unless there is an answer already. One that
        is not `lasting` waits for no disk where the ledger knows the runs of the machine: it
        survives all processes, but perhaps not the machine.

        Privacy
        -------
        The first answer under a key is kept for good. Release the returned one, and one charge
        never pays for two draws of noise, even if two processes computed the same question. If one
        that is not `lasting` goes down with the machine, such a `charge` refuses its request.
        """
        return self._store.do(
            lambda run: chain.store_answer(run, scope, key, body, number, also=also),
            lasting=lasting or not self._store.boot,
            single=True,
        )

    def stored_answer(self, scope: Scope, key: str) -> bytes | None:
        """The answer that is kept for this scope and key, free of charge.

        A frozen or revoked scope gets nothing, not even what it paid for.
        """
        return self._kept(scope, lambda run: chain.stored_answer(run, scope, key))

    def paid_answer(self, scope: Scope, number: int) -> bytes | None:
        """The answer of this scope that entry `number` paid for, as `stored_answer`. Looks at all of them."""
        return self._kept(scope, lambda run: chain.paid_answer(run, scope, number))

    def _kept(self, scope: Scope, find: Callable[[Run], bytes | None]) -> bytes | None:
        with self._store.read() as run:
            kept = find(run)
            if kept is not None:
                algebra.require_open(chain.line(run, scope))
            return kept

    # What is on record

    def balance(self, scope: Scope) -> Balance:
        """Spending, cap and state of one scope."""
        return self._line(scope)[-1]

    def spent(self, scope: Scope) -> Epsilon:
        return self.balance(scope).spent

    def cap(self, scope: Scope) -> Epsilon | None:
        return self.balance(scope).cap

    def remaining(self, scope: Scope) -> Epsilon:
        """The largest charge that would fit, by every cap above and the partitions between."""
        return algebra.remaining(self._line(scope))

    def balances(self) -> list[Balance]:
        """All scopes on record, in the order of their paths."""
        with self._store.read() as run:
            return chain.balances(run)

    def entries(
        self, scope: Scope | None = None, after: int = 0, limit: int | None = None
    ) -> list[Entry]:
        """Entries in order, of one scope and everything below it, or of all."""
        with self._store.read() as run:
            return list(chain.entries(run, scope, after, limit))

    def head(self) -> Head:
        """Number and hash of the last entry; keep it elsewhere to notice a ledger cut short."""
        with self._store.read() as run:
            last = chain.last_entry(run)
        return Head(last.number, last.hash)

    def verify(self, known: Head | None = None) -> Verification:
        """Replay the whole chain and compare every balance, and `known` if it is given."""
        with self._store.read() as run:
            replay = chain.replay(run, known)
            for problem in self._store.damage(run):
                replay.report(problem)
            return replay.finish(chain.head(run))

    def export(self, path: str | os.PathLike[str]) -> Head:
        """Write all entries to a new file of JSON lines that `verify_export` can verify."""
        try:
            with self._store.read() as run, Path(path).open("x", encoding="utf-8") as file:
                last = chain.last_entry(run)
                head = Head(last.number, last.hash)
                file.writelines(export_lines(chain.entries(run), head))
        except OSError as error:
            raise LedgerError(f"{os.fspath(path)} cannot be written ({error.strerror}).") from error
        return head

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _line(self, scope: Scope) -> list[Balance]:
        with self._store.read() as run:
            return chain.line(run, scope)

    def _record(
        self,
        action: Action,
        scope: Scope,
        amount: Epsilon,
        memo: str,
        request: str | None = None,
        *,
        lasting: bool = True,
    ) -> Entry:
        return self._store.do(
            lambda run: chain.append(
                run, action, scope, amount, memo=memo, request=request, lasting=lasting
            )
        )

    def _open(self, scope: Scope, cap: Epsilon | None) -> Scope:
        balance = self.balance(scope)
        if balance.state is State.ABSENT and cap is not None:
            with self._store.write() as run:
                balance = chain.line(run, scope)[-1]  # another process may have been faster
                if balance.state is State.ABSENT:
                    chain.append(run, Action.OPEN, scope, Epsilon.of(cap))
                    return scope
        if balance.state is State.ABSENT:
            raise LedgerError(f"{scope.title} is not in this ledger: open it with a cap.")
        if cap is not None and cap != balance.cap:
            raise LedgerError(
                f"{scope.title} has a cap of {balance.cap} on record, not {cap}. "
                "Change it with set_cap."
            )
        return scope


def open_ledger(
    target: str | os.PathLike[str],
    *,
    create: bool = False,
    check: bool = True,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Ledger:
    """Open the ledger in a file, or in a database by its `postgresql://` URL.

    Parameters
    ----------
    target
        Path of an SQLite file, or a URL.
    create
        Make the ledger if it is not there. Off by default: a mislaid ledger must not come back
        silently as one on which nothing was spent.
    check
        Refuse a ledger whose end was changed. Turn it off to look into one that is refused: it
        takes no charges even so.
    timeout_seconds
        How long to wait for other processes before `LedgerBusy`.
    """
    text = os.fspath(target)
    store: Store
    if text.startswith(("postgresql://", "postgres://")):
        if create:
            postgres.create(text, chain.create)
        store = postgres.PostgresStore(text, timeout_seconds=timeout_seconds)
    else:
        if create:
            sqlite.create(text, chain.create)
        store = sqlite.SQLiteStore(text, timeout_seconds=timeout_seconds)
    ledger = Ledger(store)
    if check:
        try:
            ledger.head()
        except LedgerError:
            ledger.close()
            raise
    return ledger
