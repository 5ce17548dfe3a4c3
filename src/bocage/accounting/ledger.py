"""The ledger: every charge is on record before a row is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from bocage.accounting import algebra, answers, chain
from bocage.accounting.algebra import Action, Balance, State
from bocage.accounting.anchor import Anchor, AnchorLink, Mark
from bocage.accounting.declaration import Declaration
from bocage.accounting.entry import Entry
from bocage.accounting.ledger_store import LedgerStore
from bocage.accounting.scope import Scope
from bocage.accounting.verification import Head, Verification, export_lines
from bocage.epsilon import ZERO, Epsilon
from bocage.errors import LedgerError
from bocage.storage import Run


class Ledger:
    """Accounts of privacy loss in a database; `open_ledger` opens one.

    One ledger may be shared by threads and processes, and with PostgreSQL by hosts.

    Privacy
    -------
    A charge is one transaction that checks the scope and everything above it and is durable when
    it returns, or it changes nothing. There is no refund. Whatever crashes, the privacy loss of
    what was released is at most what the balances say.
    """

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    @property
    def anchor(self) -> Path | None:
        """The file that names the last entry, if the ledger was opened with one."""
        return None if self._store.anchor is None else self._store.anchor.path

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

    def declare(
        self,
        scope: Scope,
        fixed: Mapping[str, str],
        current: Mapping[str, str],
        *,
        distinct: str | None = None,
    ) -> Entry:
        """Put the public terms of a table on record; return the entry that holds them.

        Parameters
        ----------
        scope
            The scope of a table that is open.
        fixed
            Terms that hold for as long as the account does, such as which tables are neighbors.
            Others than those of the first declaration are refused.
        current
            Terms that may change, such as the schema. Others than those of the last declaration
            make a new entry, so that the change is an event; the same ones make none. Terms that are
            not given stay as they are.
        distinct
            How the names of some terms begin of which no two can have the same text, at whatever time.

        Privacy
        -------
        It costs nothing, and everything in it is public: it is in the entries and the exports.
        """
        terms = Declaration.of(fixed, current)
        last = self._declaration(scope)
        if last is not None:
            on_record = Declaration.read(last.memo)
            if on_record.fixed == terms.fixed and on_record.and_then(terms) == on_record:
                return last.again()
        return self._store.do(lambda run: chain.declare(run, scope, terms, distinct))

    def declared(self, scope: Scope) -> tuple[Mapping[str, str], Mapping[str, str]] | None:
        """The fixed and the current terms of a table, if it has declared any."""
        last = self._declaration(scope)
        if last is None:
            return None
        terms = Declaration.read(last.memo)
        return terms.fixed, terms.current

    def blind(self, text: str) -> str:
        """A name for something private that says nothing about it to who lacks the ledger.

        Privacy
        -------
        HMAC-SHA256 under a random secret that is in the ledger and in no entry and no export. Equal
        texts have equal names in one ledger, and unrelated ones in two.
        """
        return self._store.require_secret().blind(text)

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
        secret = self._store.require_secret()
        return self._store.do(
            lambda run: answers.store(run, secret, scope, key, body, number=number, also=also),
            lasting=lasting or not self._store.boot_id,
        )

    def stored_answer(self, scope: Scope, key: str) -> bytes | None:
        """The answer that is kept for this scope and key, free of charge.

        A frozen or revoked scope gets nothing, not even what it paid for.
        """
        return self._kept(scope, lambda run: answers.find(run, scope, key))

    def paid_answer(self, scope: Scope, number: int) -> bytes | None:
        """The answer of this scope that entry `number` paid for, as `stored_answer`. Looks at all of them."""
        return self._kept(scope, lambda run: answers.find_paid(run, scope, number))

    def _kept(self, scope: Scope, find: Callable[[Run], bytes | None]) -> bytes | None:
        with self._store.read() as run:
            kept = find(run)
            if kept is not None:
                algebra.require_open(chain.path_balances(run, scope))
            return kept

    # What is on record

    def balance(self, scope: Scope) -> Balance:
        """Spending, cap and state of one scope."""
        return self._path_balances(scope)[-1]

    def spent(self, scope: Scope) -> Epsilon:
        return self.balance(scope).spent

    def cap(self, scope: Scope) -> Epsilon | None:
        return self.balance(scope).cap

    def remaining(self, scope: Scope) -> Epsilon:
        """The largest charge that would fit, by every cap above and the partitions between."""
        return algebra.remaining(self._path_balances(scope))

    def balances(self) -> list[Balance]:
        """All scopes on record, in the order of their paths."""
        with self._store.read() as run:
            return chain.balances(run)

    def entries(self, scope: Scope | None = None, after: int = 0, limit: int | None = None) -> list[Entry]:
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
            tables = self._store.tables(run)
            replay = chain.replay(run, known, tables)
            for problem in self._store.damage(run):
                replay.report(problem)
            return replay.finish(chain.head(run) if "head" in tables else Head(0, ""))

    def export(self, path: str | os.PathLike[str]) -> Head:
        """Write all entries to a new file of JSON lines that `verify_export` can verify."""
        try:
            with self._store.read() as run, Path(path).open("x", encoding="utf-8") as lines:
                last = chain.last_entry(run)
                head = Head(last.number, last.hash)
                lines.writelines(export_lines(chain.entries(run), head))
        except OSError as error:
            raise LedgerError(f"{os.fspath(path)} cannot be written ({error.strerror}).") from error
        return head

    def begin_anchor(self, path: str | os.PathLike[str]) -> Head:
        """Keep the last entry in a new file as well, on another disk, from now on for good.

        Whoever opens the ledger to charge it names the anchor, and with it a copy of the ledger
        that is older is refused. Another anchor may be begun when one was lost.

        Privacy
        -------
        The anchor is on its disk before a charge returns, so that it is never behind an answer
        that was released. If it cannot be written, nothing is charged.
        """
        anchor = Anchor(path)
        with self._store.read() as run:
            name, last = chain.name(run), chain.last_entry(run)
        anchor.begin(Mark(name, last.number, last.hash))
        self._store.anchor = link = AnchorLink(name, anchor)
        with self._store.write() as run:
            chain.note_anchor(run)
            last = chain.last_entry(run)
        head = Head(last.number, last.hash)
        link.follow(head)
        return head

    def use_anchor(self, path: str | os.PathLike[str] | None) -> None:
        """Hold the ledger to its anchor, if it has one: refuse a ledger that is behind it."""
        with self._store.read() as run:
            name, last, anchored = chain.name(run), chain.last_entry(run), chain.is_anchored(run)
            if path is not None and (anchored or Path(path).exists()):
                mark = Anchor(path).read()
                chain.require_not_behind(run, name, last, mark)
        if path is None:
            self._store.anchor = AnchorLink(name, None) if anchored else None
        elif anchored or Path(path).exists():
            self._store.anchor = link = AnchorLink(name, Anchor(path))
            if not anchored:  # who began it was interrupted
                with self._store.write() as run:
                    chain.note_anchor(run)
            link.follow(Head(last.number, last.hash))
        elif last.number == 1:
            self.begin_anchor(path)
        else:
            raise LedgerError(
                f"the ledger has entries and no anchor, and {os.fspath(path)} is not there. If its "
                "disk is, the owner begins one: bocage ledger anchor."
            )

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

    def _declaration(self, scope: Scope) -> Entry | None:
        with self._store.read() as run:
            return chain.declaration(run, scope)

    def _path_balances(self, scope: Scope) -> list[Balance]:
        with self._store.read() as run:
            return chain.path_balances(run, scope)

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
            lambda run: chain.append(run, action, scope, amount, memo=memo, request=request, lasting=lasting)
        )

    def _open(self, scope: Scope, cap: Epsilon | None) -> Scope:
        balance = self.balance(scope)
        if balance.state is State.ABSENT and cap is not None:
            with self._store.write() as run:
                balance = chain.path_balances(run, scope)[-1]  # another process may have been faster
                if balance.state is State.ABSENT:
                    chain.append(run, Action.OPEN, scope, Epsilon.of(cap))
                    return scope
        if balance.state is State.ABSENT:
            raise LedgerError(f"{scope.title} is not in this ledger: open it with a cap.")
        if cap is not None and cap != balance.cap:
            raise LedgerError(f"{scope.title} has a cap of {balance.cap} on record, not {cap}. Change it with set_cap.")
        return scope
