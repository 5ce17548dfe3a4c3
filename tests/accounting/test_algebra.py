"""What an action does to balances, on paths counted by hand."""

import pytest

from bocage.accounting import Action, Balance, Scope, State, algebra
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, LedgerError, ScopeClosed

TABLE = Scope.table("people")
ALICE = TABLE.analyst("alice")
SEX = ALICE.partition("sex")


def path(table, alice, *below, cap=100):
    spent = [Epsilon(nano) for nano in (table, alice, *below)]
    scopes = SEX.part("F").lineage[: len(spent)]
    caps = [Epsilon(cap), Epsilon(cap), None, None]
    return [Balance(s, e, c) for s, e, c in zip(scopes, spent, caps, strict=False)]


def charge(balances, nano):
    changed = algebra.transition(Action.CHARGE, balances, Epsilon(nano))
    return {balance.scope.kind.value: balance.spent.nano for balance in changed}


def test_sequential_scopes_add():
    assert charge(path(10, 5), 3) == {"analyst": 8, "table": 13}


def test_part_below_the_maximum_charges_nothing_above():
    assert charge(path(10, 5, 5, 1), 3) == {"part": 4}
    assert charge(path(10, 5, 5, 1), 4) == {"part": 5}


def test_part_beyond_the_maximum_forwards_only_the_rise():
    assert charge(path(10, 5, 5, 1), 6) == {"part": 7, "partition": 7, "analyst": 7, "table": 12}


def test_nearest_cap_that_refuses_is_named():
    with pytest.raises(BudgetExceeded) as refusal:
        charge(path(100, 100), 1)
    assert refusal.value.scope == "analyst 'alice'"
    with pytest.raises(BudgetExceeded) as refusal:
        charge(path(100, 0), 1)
    assert refusal.value.scope == "table 'people'"


def test_remaining_is_the_least_room_of_all_caps_plus_the_room_below_a_maximum():
    assert algebra.remaining(path(90, 20)) == Epsilon(10)
    assert algebra.remaining(path(90, 20, 20)) == Epsilon(10)
    assert algebra.remaining(path(90, 20, 20, 5)) == Epsilon(25)
    assert algebra.remaining(path(90, 20, 20, 5, cap=30)) == Epsilon(15)


def test_balances_are_not_changed_in_place():
    balances = path(10, 5, 5, 1)
    charge(balances, 6)
    assert balances == path(10, 5, 5, 1)


def test_unseen_partitions_start_empty_and_unseen_analysts_do_not_exist():
    states = [balance.state for balance in algebra.path_balances(SEX.part("F").lineage, {})]
    assert states == [State.ABSENT, State.ABSENT, State.OPEN, State.OPEN]


@pytest.mark.parametrize("action", [Action.CHARGE, Action.CAP, Action.FREEZE, Action.OPEN])
def test_absent_table_has_no_analysts(action):
    with pytest.raises(LedgerError, match="is not in this ledger"):
        algebra.transition(action, algebra.path_balances(ALICE.lineage, {}), Epsilon(1))


def test_closed_table_opens_no_account():
    known = {TABLE: Balance(TABLE, cap=Epsilon(5), state=State.FROZEN)}
    with pytest.raises(ScopeClosed, match="table 'people' is frozen"):
        algebra.transition(Action.OPEN, algebra.path_balances(ALICE.lineage, known), Epsilon(1))


def test_part_has_no_cap_to_set():
    with pytest.raises(LedgerError, match="cap its analyst"):
        algebra.transition(Action.CAP, path(0, 0, 0, 0), Epsilon(1))


def test_ledger_is_created_only_once():
    with pytest.raises(LedgerError, match="create is not done to a scope"):
        algebra.transition(Action.CREATE, path(0, 0), Epsilon(1))
