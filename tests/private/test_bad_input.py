"""Each mistake has its own clear error; what it costs is nothing, or exactly the plan's price."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

import pytest

import bocage
from bocage.accounting import open_ledger
from bocage.engine.reference import ReferenceEngine
from bocage.epsilon import Epsilon
from bocage.errors import (
    BudgetExceeded,
    EngineError,
    EpsilonError,
    LedgerBusy,
    LedgerCorrupt,
    LedgerError,
    PlanError,
    PredicateError,
    ScopeClosed,
    SourceError,
)
from bocage.mechanisms import Adjacency
from bocage.plan import col
from bocage.private import ProtectedTable
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentNoise
from private.tables import PEOPLE, ROWS
from servers import postgres_server

WRONG = {
    "unknown column": (lambda t: t.noisy_sum("height", 1), PlanError, "no column 'height'"),
    "unknown column in a filter": (lambda t: t.where("height > 3"), PlanError, "'height'"),
    "unknown column in a partition": (lambda t: t.partition("height"), PlanError, "'height'"),
    "unknown column in a choice": (lambda t: t.choose(["height"], "max", 1), PlanError, "'height'"),
    "unknown label": (lambda t: t.choose(["age"], "max", 1, label="rich"), PlanError, "'rich'"),
    "value outside the domain": (
        lambda t: t.where("city = 'Bern'"),
        PredicateError,
        "'Bern' is not a value of column 'city'",
    ),
    "number outside the domain": (lambda t: t.where(col("age") > 12), PredicateError, "age"),
    "unreadable filter": (lambda t: t.where("age >"), PredicateError, "expected"),
    "filter that is code": (lambda t: t.where(lambda row: True), PredicateError, "col"),
    "part outside the domain": (
        lambda t: t.partition("city", values=["Bern"]),
        PlanError,
        "'Bern' is not a value",
    ),
    "unknown part": (lambda t: t.partition("city")["Bern"], PlanError, "no part 'Bern'"),
    "value twice": (lambda t: t.partition("city", values=["Nice"] * 2), PlanError, "once"),
    "edges of a text": (lambda t: t.partition("city", edges=[1]), PlanError, "values, not edges"),
    "values of a number": (lambda t: t.partition("age", values=["1"]), PlanError, "edges, not"),
    "edge outside": (lambda t: t.partition("age", edges=[10]), PlanError, "outside"),
    "edges that fall": (lambda t: t.partition("age", edges=[5, 3]), PlanError, "must rise"),
    "edge beyond all": (lambda t: t.partition("income", edges=[100]), PlanError, "beyond"),
    "edge that is no number": (lambda t: t.partition("age", edges=["x"]), PlanError, "a number"),
    "endless edge": (lambda t: t.partition("age", edges=["1e-99999999"]), PlanError, "a number"),
    "partition by a number": (lambda t: t.partition(3), PlanError, "a column or a tree"),
    "sum of a text": (lambda t: t.noisy_sum("city", 1), PlanError, "categorical"),
    "quantile of a text": (lambda t: t.noisy_quantile("city", 1), PlanError, "categorical"),
    "level 1": (lambda t: t.noisy_quantile("age", 1, level=1), PlanError, "between 0 and 1"),
    "level NaN": (lambda t: t.noisy_quantile("age", 1, level="nan"), PlanError, "a number"),
    "endless level": (
        lambda t: t.noisy_quantile("age", 1, level="1e-9999999"),
        PlanError,
        "number",
    ),
    "fine level": (lambda t: t.noisy_quantile("age", 1, level="0.12345"), PlanError, "decimals"),
    "three columns": (lambda t: t.noisy_counts(["age", "sex", "city"], 1), PlanError, "two"),
    "a column twice": (lambda t: t.noisy_counts(["age", "age"], 1), PlanError, "different"),
    "no candidates": (lambda t: t.choose([], "max", 1), PlanError, "at least one"),
    "label as candidate": (lambda t: t.choose(["buys"], "max", 1), PlanError, "without the label"),
    "unknown criterion": (lambda t: t.choose(["age"], "ratio", 1), PlanError, "no criterion"),
    "unknown selection": (lambda t: t.noisy_mode("age", 1, selection="best"), PlanError, "no sel"),
    "epsilon zero": (lambda t: t.noisy_count(0), EpsilonError, "greater than 0"),
    "epsilon negative": (lambda t: t.noisy_count(-1), EpsilonError, "greater than 0"),
    "epsilon NaN": (lambda t: t.noisy_count(float("nan")), EpsilonError, "finite"),
    "epsilon infinite": (lambda t: t.noisy_count("inf"), EpsilonError, "finite"),
    "ten decimals": (lambda t: t.noisy_count("0.1234567891"), EpsilonError, "nine decimals"),
    "epsilon text": (lambda t: t.noisy_count("much"), EpsilonError, "a number"),
    "epsilon true": (lambda t: t.noisy_count(True), EpsilonError, "a number"),
    "too little to share": (lambda t: t.noisy_avg("age", "1e-9"), EpsilonError, "too small"),
    "budget spent": (lambda t: t.noisy_count(5), BudgetExceeded, "has 4 left of 4"),
}


@pytest.mark.parametrize(("ask", "error", "says"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_refused_clearly_and_costs_nothing(ask, error, says, owner, alice):
    entries = len(owner.ledger.entries())
    with pytest.raises(error, match=says):
        ask(alice)
    assert len(owner.ledger.entries()) == entries
    assert str(owner.spent()) == "0"
    assert owner.ledger.verify().ok


def test_every_way_to_write_an_epsilon_is_the_same(alice):
    for amount in (Epsilon.of("0.1"), Decimal("0.1"), 0.1, "0.1"):
        alice.noisy_count(amount, fresh=True)
    assert str(alice.spent()) == "0.4"


def test_noise_that_no_integer_holds_is_refused_before_the_charge(book):
    odd = Schema("odd", (Numeric("x", lower="0.12345678901", upper="99999.98765432109", cells=3),))
    with bocage.protect({"x": [1.0]}, odd, ledger=book, cap=1, create=True) as owner:
        alice = owner.analyst("alice", 1)
        with pytest.raises(EpsilonError, match="does not fit"):
            alice.noisy_sum("x", "0.000001")
        assert str(owner.spent()) == "0"


def test_too_many_counts_at_once_are_refused(book):
    big = Schema("big", tuple(Numeric(n, lower=0, upper=1, cells=2000) for n in "xy"))
    with bocage.protect({"x": [], "y": []}, big, ledger=book, cap=1, create=True) as owner:
        with pytest.raises(PlanError, match="at most"):
            owner.analyst("alice", 1).noisy_counts(["x", "y"], 1)
        with pytest.raises(PlanError, match="at most"):
            owner.analyst("alice", 1).partition("x").partition("y")


def test_a_choice_without_label_or_with_one_value_is_refused(book):
    bare = Schema("bare", (Categorical("a", ("x",)), Categorical("b", ("y", "z"))))
    with bocage.protect({"a": [], "b": []}, bare, ledger=book, cap=1, create=True) as owner:
        alice = owner.analyst("alice", 1)
        with pytest.raises(PlanError, match="no label"):
            alice.choose(["b"], "max", 1)
        with pytest.raises(PlanError, match="one value only"):
            alice.choose(["a"], "max", 1, label="b")
        assert str(owner.spent()) == "0"


def test_information_gain_without_a_row_cap_is_refused(book):
    free = Schema("free", PEOPLE.attributes, PEOPLE.label)
    with bocage.protect(ROWS, free, ledger=book, cap=1, create=True) as owner:
        with pytest.raises(PlanError, match="row_cap"):
            owner.analyst("alice", 1).choose(["age"], "information_gain", 1)
        assert str(owner.spent()) == "0"


def test_a_frozen_table_refuses_and_verifies(owner, alice):
    owner.freeze()
    with pytest.raises(ScopeClosed, match="frozen"):
        alice.noisy_count(1)
    assert str(owner.spent()) == "0"
    assert owner.ledger.verify().ok


def test_a_source_that_does_not_match_its_schema_is_refused_and_leaves_no_ledger(book):
    without = {name: values for name, values in ROWS.items() if name != "age"}
    with pytest.raises(SourceError, match="age"):
        bocage.protect(without, PEOPLE, ledger=book, cap=1, create=True)
    assert not book.exists()


def test_a_mislaid_ledger_is_not_made_anew(book):
    with pytest.raises(LedgerError):
        bocage.protect(ROWS, PEOPLE, ledger=book, cap=1)
    assert not book.exists()


def test_another_cap_than_the_one_on_record_is_refused(owner, book):
    with pytest.raises(LedgerError, match="cap of 10 on record"):
        bocage.protect(ROWS, PEOPLE, ledger=book, cap=11)


def test_a_locked_ledger_charges_nothing_and_reads_nothing(owner, book):
    class Unread(ReferenceEngine):
        def answer(self, questions):
            raise AssertionError("read without a charge")

    executor = LiveExecutor(Terms(PEOPLE, Adjacency.ADD_REMOVE), Unread(ROWS, PEOPLE), SilentNoise())
    with open_ledger(book, timeout_seconds=0.1) as impatient:
        alice = ProtectedTable(executor, impatient, Epsilon.of(10)).analyst("alice", 4)
        holder = sqlite3.connect(book, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerBusy):
            alice.noisy_count(1)
        holder.execute("ROLLBACK")
        holder.close()
    assert str(owner.spent()) == "0"
    assert owner.ledger.verify().ok


def test_a_corrupt_ledger_charges_nothing_and_reads_nothing(owner, alice, book):
    alice.noisy_count(1)
    with sqlite3.connect(book) as hand:
        hand.execute("UPDATE head SET hash = 'forged'")
    hand.close()
    with pytest.raises(LedgerCorrupt):
        alice.noisy_count(2)
    with pytest.raises(LedgerCorrupt):
        bocage.protect(ROWS, PEOPLE, ledger=book, cap=10)


@pytest.mark.postgres
def test_a_server_that_is_gone_is_refused_before_the_charge(book):
    import psycopg

    with postgres_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE people (sex text, city text, age int, income int, buys text)")
            for row in zip(*ROWS.values(), strict=True):
                connection.execute("INSERT INTO people VALUES (%s, %s, %s, %s, %s)", row)
        source = f"{server.url}#people"
        with bocage.protect(source, PEOPLE, ledger=book, cap=10, create=True) as owner:
            alice = owner.analyst("alice", 4)
            assert abs(alice.noisy_count(1).value - 8) < 60  # fails with probability exp(-60)
            server.kill()
            with pytest.raises(EngineError) as gone:
                alice.noisy_sum("age", 1)
            assert gone.value.__cause__ is None
            assert str(owner.spent()) == "1"
            assert owner.ledger.verify().ok
            server.restart()
            alice.noisy_sum("age", "0.5")
            assert str(owner.spent()) == "1.5"
