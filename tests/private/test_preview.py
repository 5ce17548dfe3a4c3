"""Prices before, the rehearsal on made-up rows, the inverse, and what remains."""

from __future__ import annotations

import pytest

import bocage
from bocage.epsilon import Epsilon
from bocage.errors import EpsilonError, PlanError
from bocage.private import Kind
from bocage.private.dry_run import made_up_rows
from bocage.private.executor import Pricer
from bocage.schema import Numeric, Schema
from private.noises import SilentNoise
from private.questions import ALL, Watched
from private.tables import EMPTY, PEOPLE, ROWS, table


@ALL
def test_the_price_is_what_is_then_charged(ask):
    engine = Watched()
    private = table(engine=engine)
    preview = private.preview()
    priced = ask(preview, "0.37")
    assert (engine.scans, str(private.spent())) == (0, "0")
    assert priced.kind is Kind.PREVIEW
    assert set(priced.values) == {None}
    answer = ask(private, "0.37")
    assert preview.spent() == private.spent() == Epsilon.of("0.37")
    same = ("question", "keys", "mechanism", "scale", "cost", "plus_minus", "adjacency")
    assert [getattr(priced, n) for n in same] == [getattr(answer, n) for n in same]


def batch(private):
    """A batch with partitions, nested ones and a question asked twice."""
    private.noisy_count("0.1")
    parts = private.partition("sex")
    parts["F"].noisy_sum("age", "0.3")
    parts["M"].noisy_sum("age", "0.2")
    inner = parts["M"].partition("city")
    inner["Nice"].noisy_count("0.3")
    inner["Lyon"].noisy_count("0.25")
    parts.noisy_count("0.05")
    private.noisy_count("0.1")
    private.noisy_count("0.1", fresh=True)


def test_a_batch_is_priced_at_the_maximum_of_its_parts():
    private = table(cap=5)
    preview = private.preview()
    batch(preview)
    batch(private)
    # 0.1, then the larger of F's 0.3 and M's 0.2 + 0.3, then 0.05, nothing, and 0.1 for fresh noise
    assert preview.spent() == private.spent() == Epsilon.of("0.75")


def test_a_preview_says_what_would_be_left_and_what_would_be_refused():
    preview = table(cap=1).preview()
    assert preview.noisy_count("0.6").remaining == "0.4"
    parts = preview.partition("sex")
    assert parts["F"].noisy_count("0.3").remaining == "0.1"
    fits = parts["M"].noisy_count("0.4")  # F's 0.3 are shared, 0.1 more is left
    assert "refused" not in fits.note
    assert fits.remaining == "0"
    refused = parts["M"].noisy_count("0.1")
    assert "would be refused" in refused.note
    assert "asked before: free" in preview.noisy_count("0.6").footnote()


def test_a_preview_has_neither_engine_nor_noise():
    executor = table().preview()._executor
    assert isinstance(executor, Pricer)
    assert not {"engine", "noise"} & set(vars(executor))
    with pytest.raises(PlanError, match="learner"):
        table().preview().reserve(1, "a tree")


def test_a_preview_refuses_what_the_table_would_refuse():
    with pytest.raises(PlanError, match="no column 'height'"):
        table().preview().noisy_sum("height", 1)
    with pytest.raises(EpsilonError):
        table().preview().noisy_quantile("age", "0.000000001")  # a choice and counts, one nano: no half


def test_the_expected_error_of_an_average_follows_from_an_assumed_number_of_rows():
    private = table()
    assert private.preview().noisy_avg("age", 1).plus_minus is None
    few, many = (private.preview(rows=n).noisy_avg("age", 1).plus_minus for n in (100, 10_000))
    assert 0 < many < few / 50


def test_a_preview_shows_price_and_error():
    text = str(table(cap=2).preview().noisy_count("0.1"))
    assert "preview · ± 30 at 95 %" in text
    assert "epsilon 0.1" in text
    assert "1.9 left" in text


@ALL
def test_a_dry_run_is_marked_free_and_takes_the_same_path(ask):
    engine = Watched()
    private = table(engine=engine, noise=SilentNoise())
    rehearsal = private.dry_run(rows=200)
    for _ in range(2):  # asked again it is still marked
        answer = ask(rehearsal, 1)
        assert answer.kind is Kind.DRY_RUN
        assert "dry run" in str(answer)
        assert answer.entry is None
    assert (engine.scans, str(private.spent())) == (0, "0")
    real = ask(private, 1)
    assert (answer.keys, answer.mechanism, answer.scale) == (real.keys, real.mechanism, real.scale)


def test_rows_are_made_up_from_the_schema_alone():
    assert table(EMPTY).dry_run(rows=50).noisy_count(1).value == 50
    made_up = made_up_rows(PEOPLE, 300)
    assert made_up == made_up_rows(PEOPLE, 300)
    assert set(made_up["city"]) == {"Paris", "Lyon", "Nice"}
    assert set(made_up["age"]) == set(map(float, range(10)))


def test_a_dry_run_keeps_below_the_row_cap():
    small = Schema("small", PEOPLE.attributes, PEOPLE.label, row_cap=5)
    rows = {name: values[:5] for name, values in ROWS.items()}
    assert table(rows, small).dry_run().noisy_count(1).value == 5


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("noisy_count", ()),
        ("noisy_counts", ("city",)),
        ("noisy_sum", ("age",)),
        ("noisy_sum", ("income",)),
    ],
)
@pytest.mark.parametrize("plus_minus", [5, 50, 1234.5])
def test_the_inverse_is_the_smallest_epsilon_that_keeps_the_error(method, args, plus_minus):
    private = table()
    epsilon = private.epsilon_for(plus_minus, method, *args)
    error = getattr(private.preview(), method)(*args, epsilon).plus_minus
    less = getattr(private.preview(), method)(*args, Epsilon(epsilon.nano - 1)).plus_minus
    assert error <= plus_minus < less
    assert str(private.spent()) == "0"


def test_an_error_of_fifty_rows():
    assert float(table().epsilon_for(50, "noisy_count")) == pytest.approx(3.0 / 50, rel=0.02)


def test_the_inverse_refuses_what_has_no_answer():
    private = table()
    for wrong in (0, -1, float("nan")):
        with pytest.raises(PlanError, match="greater than 0"):
            private.epsilon_for(wrong, "noisy_count")
    with pytest.raises(PlanError, match="depends on the table"):
        private.epsilon_for(1, "noisy_avg", "age")
    with pytest.raises(PlanError, match="is no question"):
        private.epsilon_for(1, "close")
    far = Schema("far", (Numeric("x", lower=10**6, upper=10**6 + 1, step=1),))
    with pytest.raises(EpsilonError, match="no epsilon"):
        table({"x": []}, far).epsilon_for(1, "noisy_sum", "x")


def test_what_remains_is_the_least_of_all_caps(book):
    with bocage.protect(ROWS, PEOPLE, ledger=book, cap=1, create=True) as owner:
        alice, bob = owner.analyst("alice", "0.9"), owner.analyst("bob", "0.5")
        assert (str(alice.remaining()), str(bob.remaining())) == ("0.9", "0.5")
        answer = alice.noisy_count("0.6")
        assert answer.remaining == "0.3"
        assert (str(alice.remaining()), str(bob.remaining())) == ("0.3", "0.4")
        assert str(alice.partition("sex")["F"].remaining()) == "0.3"
        alice.partition("sex")["F"].noisy_count("0.2")
        # 0.2 of it costs nothing: F has spent as much. Then the 0.1 that alice has left.
        assert str(alice.partition("sex")["M"].remaining()) == "0.3"
