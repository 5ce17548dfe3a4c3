"""What a ledger promises, on SQLite and on PostgreSQL."""

import json
import threading

import pytest

from bocage.accounting import Action, Head, Scope, State, open_ledger, verify_export
from bocage.epsilon import Epsilon
from bocage.errors import (
    BudgetExceeded,
    EpsilonError,
    LedgerCorrupt,
    LedgerError,
    RequestReused,
    ScopeClosed,
)

ONE = Epsilon.of(1)
TENTH = Epsilon.of("0.1")


@pytest.fixture
def ledger(target):
    with open_ledger(target, create=True) as opened:
        yield opened


@pytest.fixture
def alice(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(2)), "alice", ONE)


def test_three_tenths_fit_in_three_tenths_and_not_a_billionth_more(ledger):
    bob = ledger.analyst(ledger.table("people", ONE), "bob", Epsilon.of(0.3))
    for _ in range(3):
        ledger.charge(bob, Epsilon.of(0.1), "{}")
    assert ledger.remaining(bob) == Epsilon(0)
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.charge(bob, Epsilon(1), "{}")
    assert (refusal.value.scope, refusal.value.left, refusal.value.cap) == (
        "analyst 'bob'",
        "0",
        "0.3",
    )
    assert ledger.spent(bob) == Epsilon.of(0.3)


def test_cap_of_the_table_binds_all_analysts_together(ledger, alice):
    bob = ledger.analyst(Scope.table("people"), "bob", Epsilon.of(5))
    ledger.charge(alice, ONE, "{}")
    assert ledger.remaining(bob) == ONE
    with pytest.raises(BudgetExceeded, match="table 'people' has 1 left of 2"):
        ledger.charge(bob, Epsilon.of("1.1"), "{}")
    assert ledger.spent(bob) == Epsilon(0)
    ledger.charge(bob, ONE, "{}")
    assert ledger.spent(Scope.table("people")) == Epsilon.of(2)


def test_partition_costs_the_maximum_of_its_parts_also_after_reopening(ledger, alice, target):
    sexes = alice.partition("by sex")
    ledger.charge(sexes.part("F"), Epsilon.of("0.4"), "{}")
    ledger.close()
    with open_ledger(target) as again:
        assert again.remaining(sexes.part("M")) == ONE
        assert again.remaining(sexes.part("F")) == Epsilon.of("0.6")
        again.charge(sexes.part("M"), Epsilon.of("0.5"), "{}")
        assert again.spent(alice) == Epsilon.of("0.5")
        again.charge(sexes.part("F"), TENTH, "{}")
        assert again.spent(alice) == Epsilon.of("0.5")
        assert again.spent(sexes) == Epsilon.of("0.5")
        assert again.verify().ok


def test_part_uses_the_room_below_the_maximum_when_nothing_else_is_left(ledger, alice):
    sexes = alice.partition("by sex")
    ledger.charge(sexes.part("F"), ONE, "{}")
    assert ledger.remaining(alice) == Epsilon(0)
    ledger.charge(sexes.part("M"), ONE, "{}")
    with pytest.raises(BudgetExceeded):
        ledger.charge(sexes.part("M"), Epsilon(1), "{}")


def test_refused_charge_leaves_no_trace(ledger, alice):
    before = ledger.head()
    part = alice.partition("by sex").part("F")
    with pytest.raises(BudgetExceeded):
        ledger.charge(part, Epsilon.of("1.1"), "{}")
    assert ledger.head() == before
    assert ledger.spent(part) == Epsilon(0)


def test_partition_itself_takes_no_charge(ledger, alice):
    with pytest.raises(LedgerError, match="charge that, or a part"):
        ledger.charge(alice.partition("by sex"), TENTH, "{}")


def test_charge_of_nothing_is_refused(ledger, alice):
    with pytest.raises(EpsilonError):
        ledger.charge(alice, Epsilon(0), "{}")


def test_same_request_is_charged_once(ledger, alice):
    first = ledger.charge(alice, TENTH, "{}", request="k1")
    second = ledger.charge(alice, TENTH, "{}", request="k1")
    assert second == first
    assert (first.repeated, second.repeated) == (False, True)
    assert ledger.spent(alice) == TENTH
    bob = ledger.analyst(Scope.table("people"), "bob", ONE)
    assert not ledger.charge(bob, TENTH, "{}", request="k1").repeated


def test_a_closed_scope_gets_nothing_for_a_request_that_it_paid_for(ledger, alice):
    ledger.charge(alice, TENTH, "{}", request="k1")
    ledger.freeze(alice)
    with pytest.raises(ScopeClosed):
        ledger.charge(alice, TENTH, "{}", request="k1")
    ledger.thaw(alice)
    assert ledger.charge(alice, TENTH, "{}", request="k1").repeated


def test_a_charge_says_what_is_left(ledger, alice):
    part = alice.partition("by sex").part("F")
    for scope in (alice, part, part, alice):
        assert ledger.charge(scope, TENTH, "{}").left == ledger.remaining(scope)


@pytest.mark.parametrize(("epsilon", "memo"), [("0.2", "{}"), ("0.1", '{"other":1}')])
def test_same_request_for_another_question_is_refused(ledger, alice, epsilon, memo):
    ledger.charge(alice, TENTH, "{}", request="k1")
    with pytest.raises(RequestReused, match="new key for a new question"):
        ledger.charge(alice, Epsilon.of(epsilon), memo, request="k1")
    assert ledger.spent(alice) == TENTH


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_frozen_scope_refuses_everything_below_it_until_thawed(ledger, alice, depth):
    part = alice.partition("by sex").part("F")
    ledger.charge(part, TENTH, "{}")
    frozen = Scope(part.path[:depth])
    ledger.freeze(frozen, "holiday")
    assert ledger.remaining(part) == Epsilon(0)
    with pytest.raises(ScopeClosed, match=f"{frozen.kind} .* is frozen"):
        ledger.charge(part, TENTH, "{}")
    ledger.thaw(frozen)
    ledger.charge(part, TENTH, "{}")
    assert ledger.spent(alice) == Epsilon.of("0.2")
    assert ledger.verify().ok


def test_revoked_analyst_stays_revoked_and_others_go_on(ledger, alice):
    ledger.revoke(alice)
    for attempt in (
        lambda: ledger.charge(alice, TENTH, "{}"),
        lambda: ledger.thaw(alice),
        lambda: ledger.set_cap(alice, ONE),
    ):
        with pytest.raises(ScopeClosed, match="revoked"):
            attempt()
    bob = ledger.analyst(Scope.table("people"), "bob", ONE)
    ledger.charge(bob, TENTH, "{}")
    assert ledger.balance(alice).state is State.REVOKED


def test_cap_lowered_below_the_spending_leaves_nothing(ledger, alice):
    ledger.charge(alice, Epsilon.of("0.5"), "{}")
    ledger.set_cap(alice, TENTH)
    assert ledger.remaining(alice) == Epsilon(0)
    with pytest.raises(BudgetExceeded, match=r"has 0 left of 0\.1"):
        ledger.charge(alice, Epsilon(1), "{}")
    ledger.set_cap(alice, Epsilon.of("0.6"))
    ledger.charge(alice, TENTH, "{}")
    assert ledger.verify().ok


def test_opening_again_wants_the_cap_on_record(ledger, alice):
    assert ledger.analyst(Scope.table("people"), "alice") == alice
    assert ledger.analyst(Scope.table("people"), "alice", ONE) == alice
    with pytest.raises(LedgerError, match="has a cap of 1 on record, not 3"):
        ledger.analyst(Scope.table("people"), "alice", Epsilon.of(3))
    with pytest.raises(LedgerError, match="open it with a cap"):
        ledger.analyst(Scope.table("people"), "carol")
    assert [entry.action for entry in ledger.entries()] == [
        Action.CREATE,
        Action.OPEN,
        Action.OPEN,
    ]


def test_account_that_was_never_opened_takes_no_charge(ledger, alice):
    with pytest.raises(LedgerError, match="analyst 'mallory' is not in this ledger"):
        ledger.charge(Scope.table("people").analyst("mallory"), TENTH, "{}")
    with pytest.raises(LedgerError, match="table 'pets' is not in this ledger"):
        ledger.analyst(Scope.table("pets"), "alice", ONE)


def test_first_stored_answer_is_the_one_that_everybody_gets(ledger, alice):
    number = ledger.charge(alice, TENTH, "{}").number
    assert ledger.stored_answer(alice, "k") is None
    assert ledger.store_answer(alice, "k", b"\x00\xff first", number) == b"\x00\xff first"
    assert ledger.store_answer(alice, "k", b"second", number) == b"\x00\xff first"
    assert ledger.stored_answer(alice, "k") == b"\x00\xff first"
    assert ledger.stored_answer(Scope.table("people"), "k") is None


@pytest.mark.parametrize("number", [1, 99])
def test_answer_that_no_charge_pays_for_is_not_stored(ledger, alice, number):
    with pytest.raises(LedgerError, match="pays for no answer"):
        ledger.store_answer(alice, "k", b"free", number)


@pytest.mark.parametrize("name", ["it's", 'a "b"', "? %s $1", "Ünïcödé 🌳", "nul\x00", "lone \ud800", "x" * 8192, "["])
def test_any_name_is_kept_as_given(ledger, name):
    scope = ledger.analyst(ledger.table(name, ONE), name, ONE).partition(name).part(name)
    ledger.charge(scope, TENTH, "{}")
    assert ledger.entries(scope)[0].scope == (name,) * 4
    assert [balance.scope.path for balance in ledger.balances()] == [(name,) * depth for depth in (1, 2, 3, 4)]
    assert ledger.verify().ok


@pytest.mark.parametrize("memo", ["nul\x00", "\udfff", "x" * (2**20 + 1)])
def test_memo_that_cannot_be_kept_is_refused_before_the_charge(ledger, alice, memo):
    with pytest.raises(LedgerError, match="a memo"):
        ledger.charge(alice, TENTH, memo)
    assert ledger.spent(alice) == Epsilon(0)


def test_entries_of_a_scope_are_its_own_and_those_below(ledger, alice):
    alicia = ledger.analyst(Scope.table("people"), "alicia", ONE)
    part = alice.partition("by sex").part("F")
    ledger.charge(alice, TENTH, "1")
    ledger.charge(alicia, TENTH, "2")
    ledger.charge(part, TENTH, "3")
    ledger.charge(alice, TENTH, "4")
    charges = [entry.memo for entry in ledger.entries(alice) if entry.action == "charge"]
    assert charges == ["1", "3", "4"]
    assert [entry.memo for entry in ledger.entries(part)] == ["3"]
    assert [entry.number for entry in ledger.entries(after=5, limit=2)] == [6, 7]


def test_entries_are_read_across_pages(ledger, alice, monkeypatch):
    for i in range(10):
        ledger.charge(alice, Epsilon(1), str(i))
    monkeypatch.setattr("bocage.accounting.chain.PAGE", 4)
    assert [entry.memo for entry in ledger.entries(alice, limit=9)][1:] == list("01234567")
    assert len(ledger.entries()) == 13
    assert ledger.verify().ok


def test_export_verifies_by_itself_and_against_the_ledger(ledger, alice, tmp_path):
    ledger.charge(alice, TENTH, '{"count":"ü"}', request="k")
    ledger.freeze(alice)
    head = ledger.export(tmp_path / "export.jsonl")
    header, *lines = (tmp_path / "export.jsonl").read_text().splitlines()
    assert json.loads(header)["head"] == head.hash
    assert len(lines) == head.number == 5
    assert verify_export(tmp_path / "export.jsonl").ok
    ledger.thaw(alice)
    assert ledger.verify(known=head).ok
    assert not ledger.verify(known=Head(5, "0" * 64)).ok
    assert not ledger.verify(known=Head(7, head.hash)).ok
    with pytest.raises(LedgerError, match="cannot be written"):
        ledger.export(tmp_path / "export.jsonl")


def test_many_threads_share_one_ledger(ledger, alice):
    def spend():
        for _ in range(10):
            ledger.charge(alice, Epsilon.of("0.01"), "{}")

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent(alice) == Epsilon.of("0.8")
    assert ledger.verify().ok


def test_closed_ledger_says_so(ledger, alice):
    ledger.close()
    with pytest.raises(LedgerError, match="was closed"):
        ledger.charge(alice, TENTH, "{}")


def test_ledger_that_is_not_there_is_not_made_by_opening(target):
    for _ in range(2):
        with pytest.raises(LedgerError, match="explicitly if it is new"):
            open_ledger(target)


def test_head_that_disagrees_with_the_last_entry_stops_charges(ledger, alice, target):
    with ledger._store.write() as run:
        run("UPDATE head SET number = number - 1")
    with pytest.raises(LedgerCorrupt, match="changed or cut off"):
        ledger.charge(alice, TENTH, "{}")
    with pytest.raises(LedgerCorrupt):
        open_ledger(target)
    with open_ledger(target, check=False) as suspect:
        assert not suspect.verify().ok
        assert suspect.spent(alice) == Epsilon(0)


def test_entries_and_answers_can_be_neither_updated_nor_deleted(ledger, alice):
    number = ledger.charge(alice, TENTH, "{}").number
    ledger.store_answer(alice, "k", b"body", number)
    for statement in (
        "UPDATE entries SET nano = 0",
        "DELETE FROM entries",
        "UPDATE answers SET entry = 1",
        "DELETE FROM answers",
    ):
        with pytest.raises(LedgerError, match="append-only"), ledger._store.write() as run:
            run(statement)
    assert ledger.verify().ok
