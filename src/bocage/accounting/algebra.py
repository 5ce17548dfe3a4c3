"""What an action does to the balances on its path: the whole of the accounting, without storage.

The ledger applies `transition` to rows of a database, the verification to a dictionary while it
replays the chain, a reservation to a dictionary inside one learner. There is no second place
where epsilon is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bocage.accounting.scope import Scope, ScopeKind
from bocage.epsilon import ZERO, Epsilon
from bocage.errors import BudgetExceeded, LedgerError, ScopeClosed


class Action(StrEnum):
    """What an entry of the ledger records."""

    CREATE = "create"
    MOVE = "move"
    OPEN = "open"
    CHARGE = "charge"
    DECLARE = "declare"
    CAP = "cap"
    FREEZE = "freeze"
    THAW = "thaw"
    REVOKE = "revoke"


class State(StrEnum):
    """Whether a scope takes charges. `ABSENT` is never stored: the owner has not opened it."""

    ABSENT = "absent"
    OPEN = "open"
    FROZEN = "frozen"
    REVOKED = "revoked"


@dataclass(frozen=True)
class Balance:
    """What one scope has spent, out of what."""

    scope: Scope
    spent: Epsilon = ZERO
    cap: Epsilon | None = None
    state: State = State.OPEN

    @property
    def left(self) -> Epsilon:
        """What the cap of this scope alone leaves; a cap below the spending leaves nothing."""
        if self.cap is None:
            raise LedgerError(f"{self.scope.title} has no cap of its own.")
        return Epsilon(max(0, self.cap.nano - self.spent.nano))


def path_balances(scopes: Sequence[Scope], on_record: Mapping[Scope, Balance]) -> list[Balance]:
    """The balances of a path, the table first. Partitions and parts begin at nothing spent."""
    unseen = {True: State.ABSENT, False: State.OPEN}
    return [on_record.get(s) or Balance(s, state=unseen[s.has_cap]) for s in scopes]


def transition(action: Action, path: Sequence[Balance], amount: Epsilon) -> list[Balance]:
    """Return the balances that `action` changes at the end of `path`, or refuse.

    Nothing is changed in place, so a refusal leaves no trace.
    """
    *above, last = path
    if action is Action.CHARGE:
        require_open(path)
        return _charge(path, amount)
    if action is Action.OPEN:
        require_open(above)
        if last.state is not State.ABSENT:
            raise LedgerError(f"{last.scope.title} is open already.")
        return [replace(last, cap=amount, state=State.OPEN)]
    if last.state is State.ABSENT:
        raise LedgerError(f"{last.scope.title} is not in this ledger.")
    return _change(action, last, amount)


def _change(action: Action, last: Balance, amount: Epsilon) -> list[Balance]:
    """What the owner does to a scope that is there."""
    if action is Action.DECLARE:  # says what a table is, in whatever state, and spends nothing
        if last.scope.kind is not ScopeKind.TABLE:
            raise LedgerError(f"{last.scope.title} is no table: terms are declared of tables.")
        return []
    if last.state is State.REVOKED:
        raise ScopeClosed(f"{last.scope.title} was revoked, which is final.")
    if action is Action.CAP:
        if not last.scope.has_cap:
            raise LedgerError(f"{last.scope.title} has no cap of its own: cap its analyst.")
        return [replace(last, cap=amount)]
    states = {
        Action.FREEZE: State.FROZEN,
        Action.THAW: State.OPEN,
        Action.REVOKE: State.REVOKED,
    }
    if action not in states:
        raise LedgerError(f"{action} is not done to a scope.")
    return [replace(last, state=states[action])]


def require_open(path: Sequence[Balance]) -> None:
    for balance in path:
        if balance.state is State.ABSENT:
            raise LedgerError(f"{balance.scope.title} is not in this ledger: the data owner has to open it.")
        if balance.state is not State.OPEN:
            raise ScopeClosed(f"{balance.scope.title} is {balance.state}. Ask the data owner. Nothing was charged.")


def after(path: Sequence[Balance], changed: Sequence[Balance]) -> list[Balance]:
    """The balances of a path with those of a transition in their places."""
    new = {balance.scope: balance for balance in changed}
    return [new.get(balance.scope, balance) for balance in path]


def _charge(path: Sequence[Balance], epsilon: Epsilon) -> list[Balance]:
    """Add `epsilon` at the last scope and what follows from it above.

    Privacy
    -------
    Sequential composition adds. The parts of a partition are disjoint, so by parallel
    composition only the rise of their maximum goes on to the scope above.
    """
    if path[-1].scope.kind is ScopeKind.PARTITION:
        raise LedgerError(
            f"{path[-1].scope.title} takes no charge of its own. A question about all its parts "
            "costs as much as one to the scope above: charge that, or a part."
        )
    changed: list[Balance] = []
    rise = epsilon
    for balance in reversed(path):
        if balance.scope.kind is ScopeKind.PARTITION:
            part = changed[-1].spent
            rise = part - balance.spent if part > balance.spent else ZERO
        if rise == ZERO:
            break
        if balance.cap is not None and rise > balance.left:
            raise BudgetExceeded(
                balance.scope.title,
                asked=str(epsilon),
                left=str(balance.left),
                cap=str(balance.cap),
            )
        spent = balance.spent + rise
        changed.append(Balance(balance.scope, spent, balance.cap, balance.state))
    return changed


def remaining(path: Sequence[Balance]) -> Epsilon:
    """The largest charge that would fit at the end of `path`, every cap above considered.

    For a partition: how far the maximum over its parts may still rise.
    """
    if any(balance.state is not State.OPEN for balance in path):
        return ZERO
    room = path[0].left
    partition = ZERO
    for balance in path[1:]:
        if balance.scope.kind is ScopeKind.PARTITION:
            partition = balance.spent
        elif balance.scope.kind is ScopeKind.PART:
            room = room + (partition - balance.spent)
        if balance.cap is not None:
            room = min(room, balance.left)
    return room
