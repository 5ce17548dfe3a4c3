"""Point systems as a learner: which are drawn among, what the model says, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage import study
from bocage.errors import LearnerError
from bocage.learners import Auto, ReadableTree, Scorecard
from bocage.learners.discretization import Spreads
from bocage.learners.score import rule
from bocage.learners.score.models import OTHERS, SLOPE, additive_of
from bocage.learners.score.rule import scorecards_of
from bocage.model import AdditiveModel, load
from bocage.model.additive.model import UNIT
from bocage.private import Block, DrawnScorecard, Scorecards
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of

LABELS = ("no", "maybe", "yes")
SCHEMA = Schema(
    "t",
    (
        Categorical("a", ("x", "y")),
        Categorical("b", ("p", "q", "r")),
        Numeric("n", 0, 100, 100),
    ),
    Categorical("label", LABELS),
)
BLOCKS = (
    Block(("a",), (2,), (2,)),
    Block(("b",), (3,), (3,)),
    Block(("n",), (4,), (4,), ((5, 10, 50),)),
)
BOARD = Schema(
    "board",
    tuple(Categorical(f"s{i}", ("x", "o", "b")) for i in range(5)),
    Categorical("won", ("no", "yes")),
)


def boards(rows, seed=1):
    """Signs on five squares; x has won if there are more of them than of o."""
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 3, (rows, 5))
    won = (signs == 0).sum(axis=1) > (signs == 1).sum(axis=1)
    columns = {f"s{i}": pa.array(np.array(["x", "o", "b"])[signs[:, i]]) for i in range(5)}
    return pa.table(columns | {"won": pa.array(np.where(won, "yes", "no"))})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_model_predicts_what_the_points_say(data):
    chosen = data.draw(st.lists(st.sampled_from(BLOCKS), unique=True, max_size=3))
    points = [tuple(data.draw(st.lists(st.integers(0, 2), min_size=b.size, max_size=b.size))) for b in chosen]  # fmt: skip
    low, high = sorted(data.draw(st.sampled_from([(0, 1), (0, 2), (1, 2)])))
    threshold = data.draw(st.integers(1, 6)) if chosen else 0
    sheet = DrawnScorecard(
        tuple(zip(chosen, points, strict=True)), threshold, (low, high) if chosen else (high, high)
    )
    top = 1 + sum(max(own) for own in points)
    counts = data.draw(
        st.none() | st.lists(st.integers(-5, 50), min_size=3 * top, max_size=3 * top)
    )
    noisy = None if counts is None else np.array(counts).reshape(top, 3)
    model = additive_of(SCHEMA, sheet, noisy, certificate_of(SCHEMA))
    codes = {
        "a": np.array([0, 1, 1, 0, 1, 0]),
        "b": np.array([0, 1, 2, 2, 1, 0]),
        "n": np.array([0, 7, 49, 50, 99, 4]),
    }
    given = np.zeros(6, int)
    for block, own in sheet.points:
        given += np.array(own)[block.lookup(SCHEMA)[0][codes[block.columns[0]]]]
    expected = np.where(given >= threshold, high, low) if chosen else np.full(6, high)
    assert model.predict_codes(codes).tolist() == expected.tolist()


def test_a_system_is_told_in_words():
    sheet = DrawnScorecard(((BLOCKS[1], (0, 1, 1)), (BLOCKS[2], (2, 2, 1, 0))), 1, (0, 2))
    model = additive_of(SCHEMA, sheet, None, replace(certificate_of(SCHEMA), notes=("Before.",)))
    assert model.certificate.notes == (
        "Before.",
        "The model is a point system: yes from 1 point on, else no.",
        "Points: 0 if b is p, 1 if b in q, r.",
        "Points: 2 if n < 10, 1 if 10 ≤ n < 50, 0 if n ≥ 50.",
    )
    alone = additive_of(SCHEMA, DrawnScorecard((), 0, (1, 1)), None, certificate_of(SCHEMA))
    assert alone.certificate.notes == ("One label for all rows: maybe.",)


def test_a_point_is_worth_what_the_counts_say():
    """Rows with odds of 3 to 1 for each point more: their logarithm is near 1.1."""
    sheet = DrawnScorecard(((BLOCKS[1], (0, 1, 2)),), 1, (0, 2))
    counts = np.array([[300, 0, 173], [173, 5, 300], [100, 0, 520]])
    model = additive_of(SCHEMA, sheet, counts, certificate_of(SCHEMA))
    assert model.terms[0].scores[:, 2].tolist() == [0, 1218, 2436]  # the nearest slope
    assert model.intercept.tolist() == [0, -OTHERS * UNIT, -609]
    guessed = additive_of(SCHEMA, sheet, None, certificate_of(SCHEMA))
    assert guessed.terms[0].scores[1, 2] == SLOPE * UNIT
    flat = additive_of(SCHEMA, sheet, np.full((3, 3), 100), certificate_of(SCHEMA))
    assert 0 < flat.terms[0].scores[1, 2] < 100


def test_a_model_that_names_its_learner_as_it_was_called_before_is_read(tmp_path):
    """The name in a certificate is text."""
    before = replace(certificate_of(SCHEMA), learner="points")
    model = additive_of(SCHEMA, DrawnScorecard(((BLOCKS[1], (0, 1, 2)),), 1, (0, 2)), None, before)
    model.save(tmp_path / "model.json")
    stored = load(tmp_path / "model.json")
    assert stored.certificate == model.certificate
    assert stored.certificate.learner == "points"


def test_a_sum_over_many_attributes_is_found_with_few_records():
    rows, fresh = boards(600), boards(2000, seed=2)
    with study(rows, BOARD) as table:
        model = Scorecard().fit(table, 1)
    assert isinstance(model, AdditiveModel)
    # 20 of 600 rows more right is e**20 times as likely: all but certain among 10**7 systems.
    assert (model.predict(fresh) == np.array(fresh["won"])).mean() > 0.97


def test_auto_and_a_tree_that_may_be_points_take_points_for_a_sum_and_a_tree_for_a_tree():
    rows = boards(600)
    with study(rows, BOARD) as table:
        assert isinstance(ReadableTree(scorecards=True).fit(table, 2), AdditiveModel)
        assert isinstance(Auto().fit(table, 2), AdditiveModel)
        assert not isinstance(ReadableTree().fit(table, 2), AdditiveModel)
    odd = pa.array(np.where((np.array(rows["s0"]) == "x") ^ (np.array(rows["s1"]) == "x"), "yes", "no"))  # fmt: skip
    with study(rows.set_column(5, "won", odd), BOARD) as table:
        model = ReadableTree(scorecards=True).fit(table, 2)
    assert not isinstance(model, AdditiveModel)
    assert model.certificate.learner == "readable"


def test_how_many_attributes_give_points_follows_from_public_numbers(monkeypatch):
    names = tuple(column.name for column in BOARD.attributes)

    def systems(rows, epsilon, chosen=names):
        return scorecards_of(BOARD, chosen, rows, epsilon, Spreads())

    assert systems(1000, 1.0) == Scorecards(systems(9, 1.0).blocks, 5, rich=True)
    assert not systems(25, 1.0).rich  # rich patterns are worth it with more records
    monkeypatch.setattr(rule, "FEWEST", 1)
    assert [systems(rows, 0.1).most for rows in (1, 40, 80)] == [1, 2, 5]  # little data, few of use
    monkeypatch.setattr(rule, "CARD_WORK", 1e6)
    assert systems(1000, 1.0).most == 5  # there is more time for all of them
    monkeypatch.setattr(rule, "CARD_WORK_OF_ALL", 1e6)
    assert systems(1000, 1.0).most < 5


def test_numeric_attributes_are_cut_where_rows_are_if_that_is_known():
    columns = (Numeric("n", 0, 100, 100), Numeric("m", 0, 3, 3), Categorical("c", tuple("abc")))
    schema = Schema("t", columns, Categorical("y", ("0", "1")))

    class Known(Spreads):
        def cuts(self, name, cells):
            return (1, 2, 3)[: cells - 1] if name == "n" else ()

    blocks = scorecards_of(schema, ("n", "m", "c"), 1000, 1.0, Known()).blocks
    assert [block.cells for block in blocks] == [(4,), (3,), (3,)]
    assert [block.cuts for block in blocks] == [((1, 2, 3),), (), ()]


def test_attributes_of_too_many_values_give_no_points_and_alone_are_refused():
    wide = Categorical("w", tuple(map(str, range(40))))
    label = Categorical("y", ("0", "1"))
    both = Schema("t", (wide, Categorical("c", ("a", "b"))), label)
    assert [b.columns for b in scorecards_of(both, ("w", "c"), 9, 1.0, Spreads()).blocks] == [
        ("c",)
    ]
    with pytest.raises(LearnerError, match="2 to 32 values"):
        Scorecard().plan(Schema("t", (wide,), label), 1)
    assert ReadableTree(scorecards=True).plan(Schema("t", (wide,), label), 1)
    with pytest.raises(LearnerError, match="scorecards to be True or False"):
        ReadableTree(scorecards=1).plan(both, 1)
