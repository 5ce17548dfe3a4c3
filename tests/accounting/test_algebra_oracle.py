"""Trees of scopes against the definition: sums and maxima over the list of accepted charges."""

from dataclasses import dataclass, field
from functools import reduce

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bocage.accounting import Action, Balance, MemoryAccount, Scope, ScopeKind, algebra, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, ScopeClosed

TABLE = Scope.table("people")
ANALYSTS = [TABLE.analyst("alice"), TABLE.analyst("bob")]


@dataclass
class Oracle:
    """The definition, recomputed from nothing for every question. Amounts are billionths."""

    caps: dict[Scope, int]
    charges: list[tuple[Scope, int]] = field(default_factory=list)
    frozen: set[Scope] = field(default_factory=set)

    def cost(self, scope, extra=()):
        charges = [*self.charges, *extra]
        depth = len(scope.path) + 1
        paths = {at.path[:depth] for at, _ in charges if at.path[: depth - 1] == scope.path}
        below = [self.cost(Scope(path), extra) for path in paths if len(path) == depth]
        if scope.kind is ScopeKind.PARTITION:
            return max(below, default=0)
        return sum(nano for at, nano in charges if at == scope) + sum(below)

    def accepts(self, scope, nano):
        if self.frozen & set(scope.lineage):
            return False
        for capped, cap in self.caps.items():
            before, after = self.cost(capped), self.cost(capped, [(scope, nano)])
            if after > max(cap, before):
                return False
        return True

    def remaining(self, scope):
        """The largest charge that is accepted; acceptance is monotone in the amount."""
        low, high = 0, max(self.caps.values()) + 200  # accepted, refused
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.accepts(scope, middle) else (low, middle)
        return low


class InMemory:
    """The algebra by itself, over a dictionary."""

    def __init__(self):
        self.known: dict[Scope, Balance] = {}

    def do(self, action, scope, nano=0):
        path = algebra.path_balances(scope.lineage, self.known)
        changed = algebra.transition(action, path, Epsilon(nano))
        self.known |= {balance.scope: balance for balance in changed}

    def spent(self, scope):
        return algebra.path_balances(scope.lineage, self.known)[-1].spent

    def remaining(self, scope):
        return algebra.remaining(algebra.path_balances(scope.lineage, self.known))


class InLedger:
    def __init__(self, ledger):
        self.ledger = ledger
        self.spent, self.remaining = ledger.spent, ledger.remaining

    def do(self, action, scope, nano=0):
        self.ledger._record(action, scope, Epsilon(nano), "{}")


names = st.sampled_from(["x", "y"])
places = st.tuples(st.sampled_from(ANALYSTS), st.lists(st.tuples(names, names), max_size=3)).map(
    lambda place: reduce(lambda at, step: at.partition(step[0]).part(step[1]), place[1], place[0])
)
amounts = st.integers(1, 6)
capped = st.sampled_from([TABLE, *ANALYSTS])
charges = st.tuples(st.just(Action.CHARGE), places, amounts)
steps = st.lists(
    st.one_of(
        charges,
        charges,
        charges,
        st.tuples(st.just(Action.CAP), capped, st.integers(1, 20)),
        st.tuples(st.sampled_from([Action.FREEZE, Action.THAW]), capped, st.just(0)),
    ),
    max_size=25,
)


def compare(subject, caps, history):
    oracle = Oracle(caps)
    for scope, cap in caps.items():
        subject.do(Action.OPEN, scope, cap)
    for action, scope, nano in history:
        expected = action is not Action.CHARGE or oracle.accepts(scope, nano)
        try:
            subject.do(action, scope, nano)
            accepted = True
        except (BudgetExceeded, ScopeClosed):
            accepted = False
        assert accepted == expected
        if action is Action.CHARGE and accepted:
            oracle.charges.append((scope, nano))
        elif action is Action.CAP:
            oracle.caps[scope] = nano
        elif action is Action.FREEZE:
            oracle.frozen.add(scope)
        elif action is Action.THAW:
            oracle.frozen.discard(scope)
    for scope in {above for _, at, _ in history for above in at.lineage}:
        assert subject.spent(scope).nano == oracle.cost(scope)
        if scope.kind is not ScopeKind.PARTITION:
            assert subject.remaining(scope).nano == oracle.remaining(scope)


caps = st.tuples(st.integers(1, 30), st.integers(1, 20), st.integers(1, 20)).map(
    lambda three: dict(zip([TABLE, *ANALYSTS], three, strict=True))
)


@settings(max_examples=200, deadline=None)
@given(caps, steps)
def test_algebra_agrees_with_the_definition(caps, history):
    compare(InMemory(), caps, history)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_ledger_agrees_with_the_definition(target, data):
    """All examples share one ledger; a table of its own keeps each from the others."""
    with open_ledger(target, create=True) as ledger:
        table = Scope.table(f"table {len(ledger.balances())}")
        moved = {scope: Scope((table.name, *scope.path[1:])) for scope in [TABLE, *ANALYSTS]}
        history = [(action, Scope((table.name, *scope.path[1:])), nano) for action, scope, nano in data.draw(steps)]
        limits = {moved[scope]: cap for scope, cap in data.draw(caps).items()}
        compare(InLedger(ledger), limits, history)
        assert ledger.verify().ok


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 20), st.lists(st.tuples(places, amounts), max_size=20))
def test_reserved_account_agrees_with_the_definition(cap, wanted):
    top = ANALYSTS[0]
    oracle = Oracle({top: cap})
    root = MemoryAccount.of(Epsilon(cap), scope=top, number=7)
    for place, nano in wanted:
        account = root
        for step, name in enumerate(place.path[2:]):
            account = account.part(name) if step % 2 else account.partition(name)
        if oracle.accepts(account.scope, nano):
            assert account.charge(Epsilon(nano), "{}") == 7
            oracle.charges.append((account.scope, nano))
        else:
            with pytest.raises(BudgetExceeded):
                account.charge(Epsilon(nano), "{}")
        assert account.spent().nano == oracle.cost(account.scope)
        assert account.remaining().nano == oracle.remaining(account.scope)
