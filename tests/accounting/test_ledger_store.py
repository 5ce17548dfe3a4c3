"""What the transactions of a ledger know, and what its store adds to a database."""

import pytest

from bocage.accounting import Action, Head, chain, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError

ONE = Epsilon.of("0.001")


@pytest.fixture
def ledger(target):
    with open_ledger(target, create=True) as made:
        yield made


@pytest.fixture
def ann(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "ann", Epsilon.of(1))


def test_what_a_transaction_has_appended_is_not_read_again(ledger, ann):
    store, seen = ledger._store, []
    run = store.run

    def watched(connection, sql, values):
        seen.append(sql.split()[0])
        return run(connection, sql, values)

    store.run = watched
    with store.write() as transaction:
        first = chain.append(transaction, Action.CHARGE, ann, ONE)
        seen.clear()
        second = chain.append(transaction, Action.CHARGE, ann, ONE)
        assert "SELECT" not in seen
        assert transaction.appended is second
        assert transaction.head == Head(second.number, second.hash)
        assert transaction.balances[ann].spent == ONE * 2
    assert second.previous == first.hash
    assert ledger.head() == Head(second.number, second.hash)
    assert ledger.verify().ok


def test_a_repeated_request_appends_nothing_and_names_the_head_that_it_saw(ledger, ann):
    ledger.charge(ann, ONE, "question", "key")
    with ledger._store.write() as transaction:
        again = chain.append(transaction, Action.CHARGE, ann, ONE, memo="question", request="key")
        assert again.repeated
        assert transaction.appended is None
        assert transaction.balances == {}
        assert transaction.head == ledger.head()


def test_what_one_transaction_knows_another_does_not(ledger, ann):
    for _ in range(2):
        with ledger._store.write() as transaction:
            assert (transaction.appended, transaction.head) == (None, None)
            chain.append(transaction, Action.CHARGE, ann, ONE)
    assert ledger.spent(ann) == ONE * 2


def test_a_ledger_that_is_only_looked_at_gives_nobody_its_secret(ledger, target):
    with open_ledger(target, check=False) as looked_at:
        with pytest.raises(LedgerError, match="to be looked at"):
            looked_at._store.require_secret()
        with pytest.raises(LedgerError, match="to be looked at"):
            looked_at._store.transaction(None).require_secret()
