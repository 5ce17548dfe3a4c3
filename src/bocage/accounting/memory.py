"""Accounts in memory: what a learner reserved at once, spent in pieces by the same rules."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from bocage.accounting import algebra
from bocage.accounting.algebra import Action, Balance
from bocage.accounting.entry import check_key, check_memo
from bocage.accounting.scope import Scope
from bocage.accounting.secret import Secret
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError, RequestReused

DRY_RUN = Scope.table("dry run").analyst("nobody")


class MemoryAccount:
    """A place below one reserved scope; the places share one tree of balances."""

    def __init__(self, tree: _Tree, scope: Scope) -> None:
        self._tree = tree
        self._scope = scope

    @classmethod
    def of(
        cls,
        cap: Epsilon,
        *,
        scope: Scope = DRY_RUN,
        number: int = 0,
        blind: Callable[[str], str] | None = None,
    ) -> MemoryAccount:
        """Start an account that may spend `cap`.

        Parameters
        ----------
        cap
            What may be spent.
        scope
            Where the cap was reserved. The default stands for no table at all.
        number
            The ledger entry that paid for the cap; every charge names it. 0 stands for none.
        blind
            How the account that it was reserved of names private things. Without one, by a random
            secret of its own.
        """
        return cls(_Tree(scope, Epsilon.of(cap), number, blind or Secret.new().blind), scope)

    @property
    def scope(self) -> Scope:
        return self._scope

    @property
    def number(self) -> int:
        """The ledger entry that paid for the cap; 0 stands for none."""
        return self._tree.number

    def charge(self, epsilon: Epsilon, memo: str, request: str | None = None) -> int:
        self._tree.charge(self._scope, Epsilon.of(epsilon), check_memo(memo), request)
        return self._tree.number

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount:
        number = self.charge(epsilon, memo)
        return MemoryAccount.of(epsilon, scope=self._scope, number=number, blind=self.blind)

    def partition(self, name: str) -> MemoryAccount:
        return MemoryAccount(self._tree, self._scope.partition(name))

    def part(self, name: str) -> MemoryAccount:
        return MemoryAccount(self._tree, self._scope.part(name))

    def spent(self) -> Epsilon:
        return self._tree.path_balances(self._scope)[-1].spent

    def remaining(self) -> Epsilon:
        return algebra.remaining(self._tree.path_balances(self._scope))

    def store_answer(self, key: str, body: bytes, number: int, also: str | None = None) -> bytes:
        if number != self._tree.number:
            raise LedgerError(f"entry {number} is not the one that paid for this account.")
        if also is not None:
            self._tree.answers.setdefault((self._scope, check_key(also)), body)
        return self._tree.answers.setdefault((self._scope, check_key(key)), body)

    def stored_answer(self, key: str) -> bytes | None:
        return self._tree.answers.get((self._scope, key))

    def blind(self, text: str) -> str:
        return self._tree.blind(text)


class _Tree:
    """The balances from a reserved scope downwards."""

    def __init__(self, top: Scope, cap: Epsilon, number: int, blind: Callable[[str], str]) -> None:
        self.number, self.blind = number, blind
        self._process = os.getpid()
        self.answers: dict[tuple[Scope, str], bytes] = {}
        self._above = len(top.path) - 1
        self._balances = {top: Balance(top, cap=cap)}
        self._requests: dict[tuple[Scope, str], tuple[Epsilon, str]] = {}
        self._lock = threading.Lock()

    def path_balances(self, scope: Scope) -> list[Balance]:
        return algebra.path_balances(scope.lineage[self._above :], self._balances)

    def charge(self, scope: Scope, epsilon: Epsilon, memo: str, request: str | None) -> None:
        if os.getpid() != self._process:
            raise LedgerError(
                "a reservation is spent in the process that made it: a fork would spend it twice. "
                "Reserve in the new process. Nothing was charged."
            )
        with self._lock:
            if request is not None:
                first = self._requests.get((scope, check_key(request)))
                if first == (epsilon, memo):
                    return
                if first is not None:
                    raise RequestReused(request)
            for balance in algebra.transition(Action.CHARGE, self.path_balances(scope), epsilon):
                self._balances[balance.scope] = balance
            if request is not None:
                self._requests[scope, request] = (epsilon, memo)
