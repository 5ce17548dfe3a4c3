"""One scope as a question sees it: the same in a ledger and in memory."""

import pytest

from bocage.accounting import Account, LedgerAccount, MemoryAccount, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, EpsilonError, LedgerError, RequestReused

TENTH = Epsilon.of("0.1")


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True) as opened:
        yield opened


@pytest.fixture
def in_ledger(ledger):
    table = ledger.table("people", Epsilon.of(5))
    return LedgerAccount(ledger, ledger.analyst(table, "alice", Epsilon.of(1)))


@pytest.fixture(params=["ledger", "reserved", "dry run"])
def account(request, ledger, in_ledger) -> Account:
    """An account with epsilon 1 left."""
    if request.param == "ledger":
        return in_ledger
    if request.param == "dry run":
        return MemoryAccount.of(Epsilon.of(1))
    ledger.set_cap(in_ledger.scope, Epsilon.of(2))
    return in_ledger.reserve(Epsilon.of(1), "{}")


def test_partition_costs_its_maximum(account):
    left, right = (account.partition("side").part(name) for name in ("left", "right"))
    left.charge(Epsilon.of("0.4"), "{}")
    right.charge(Epsilon.of("0.3"), "{}")
    assert account.spent() == Epsilon.of("0.4")
    assert (left.remaining(), right.remaining()) == (Epsilon.of("0.6"), Epsilon.of("0.7"))
    assert account.remaining() == Epsilon.of("0.6")


def test_parts_of_parts_nest(account):
    inner = account.partition("side").part("left").partition("size").part("small")
    inner.charge(TENTH, "{}")
    account.partition("side").part("right").charge(TENTH, "{}")
    assert account.spent() == TENTH


def test_overdraft_is_refused_and_changes_nothing(account):
    with pytest.raises(BudgetExceeded):
        account.partition("side").part("left").charge(Epsilon.of("1.000000001"), "{}")
    assert account.spent() == Epsilon(0)
    account.charge(Epsilon.of(1), "{}")
    assert account.remaining() == Epsilon(0)


def test_same_request_costs_once_and_another_question_under_it_is_refused(account):
    first = account.charge(TENTH, "{}", request="k")
    assert account.charge(TENTH, "{}", request="k") == first
    assert account.spent() == TENTH
    with pytest.raises(RequestReused, match="new key for a new question"):
        account.charge(TENTH, "[]", request="k")


def test_first_stored_answer_stays(account):
    number = account.charge(TENTH, "{}")
    assert account.stored_answer("k") is None
    assert account.store_answer("k", b"first", number) == b"first"
    assert account.store_answer("k", b"second", number) == b"first"
    assert account.stored_answer("k") == b"first"
    assert account.partition("side").part("left").stored_answer("k") is None
    with pytest.raises(LedgerError):
        account.store_answer("other", b"unpaid", number + 1)


def test_reservation_within_an_account_is_spent_at_once(account):
    inner = account.reserve(Epsilon.of("0.7"), "{}")
    assert account.spent() == Epsilon.of("0.7")
    with pytest.raises(BudgetExceeded):
        inner.charge(Epsilon.of("0.8"), "{}")
    inner.charge(Epsilon.of("0.7"), "{}")
    assert account.spent() == Epsilon.of("0.7")


def test_charge_that_is_no_amount_is_refused(account):
    with pytest.raises(EpsilonError):
        account.charge(Epsilon(0), "{}")
    with pytest.raises(EpsilonError):
        account.reserve(Epsilon(0), "{}")


def test_reservation_is_one_entry_that_every_charge_names(ledger, in_ledger):
    reserved = in_ledger.reserve(Epsilon.of("0.5"), '{"learner":"id3"}')
    number = ledger.head().number
    numbers = {reserved.partition("leaf").part(str(i)).charge(Epsilon.of("0.25"), "{}") for i in range(9)}
    numbers.add(reserved.charge(Epsilon.of("0.25"), "{}"))
    assert numbers == {number}
    assert ledger.head().number == number
    assert ledger.entries(in_ledger.scope)[-1].memo == '{"learner":"id3"}'
    assert reserved.remaining() == Epsilon(0)
