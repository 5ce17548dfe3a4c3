"""What a learner asks inside its reservation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import PlanError, RefusedVariant
from bocage.mechanisms import Selection
from bocage.private import level as level_module
from bocage.private.choose import Candidate
from bocage.private.criteria import Gini, MaxOperator
from private.noises import SilentRecordingNoise
from private.tables import TENNIS, WEATHER, table

ONE = Epsilon.of(1)


def whole(noise=None):
    return table(WEATHER, TENNIS, noise=noise).reserve(100, "a tree")


@given(
    epsilon=st.integers(4, 10**10).map(Epsilon),
    columns=st.lists(
        st.lists(st.sampled_from(["temperature", "humidity", "wind"]), min_size=1, unique=True),
        min_size=3,
        max_size=3,
    ),
)
def test_the_histograms_of_a_cell_share_its_epsilon_exactly(epsilon, columns):
    noise = SilentRecordingNoise()
    below = whole(noise).split([("outlook", None)])
    below.histograms(columns, "play", epsilon)
    assert below.remaining() == Epsilon.of(100) - epsilon
    scales = iter(noise.scales)
    for names in columns:  # a record is in one count of each histogram of its cell
        assert sum(1 / next(scales)[0] for _ in names) == epsilon.fraction
    assert next(scales, None) is None


@pytest.mark.parametrize(
    "columns", [[], [["wind"]] * 2, [["wind"], [], ["wind"]], [["wind"] * 2] * 3, [["play"]] * 3]
)
def test_histograms_that_do_not_fit_the_cells_cost_nothing(columns):
    below = whole().split([("outlook", None)])
    with pytest.raises(PlanError):
        below.histograms(columns, "play", ONE)
    assert below.remaining() == Epsilon.of(100)


def test_a_choice_is_checked_before_the_charge():
    below = whole().split([("outlook", None)])
    wind = Candidate.of(TENNIS, "wind")
    for among in ([[wind]] * 2, [[wind, wind]] * 3, [[Candidate("wind", 1, 1)]] * 3):
        with pytest.raises(PlanError):
            below.choose(among, "play", Gini(), Selection.EXPONENTIAL, ONE)
    assert below.remaining() == Epsilon.of(100)
    splits = below.choose([[wind]] * 3, "play", Gini(), Selection.EXPONENTIAL, ONE)
    assert splits == [("wind", None)] * 3


def test_a_learner_chooses_by_trusted_criteria_only():
    class Mine(MaxOperator):
        pass

    wind = Candidate.of(TENNIS, "wind")
    with pytest.raises(PlanError, match="no criterion"):
        whole().choose([[wind]], "play", Mine(), Selection.EXPONENTIAL, ONE)


def test_a_level_too_large_to_count_at_once_costs_the_same(monkeypatch):
    level = whole().split([("outlook", None)])
    expected = level.counts("play", ONE).tolist()
    monkeypatch.setattr(level_module, "MOST_COUNTS", 4)  # room for one cell of two labels
    assert level.counts("play", ONE).tolist() == expected
    assert str(level.remaining()) == "98"


def test_shares_of_a_reservation_add_up():
    level = whole()
    first, second = level.share("one", Epsilon.of(60)), level.share("two", Epsilon.of(40))
    first.totals(ONE)
    assert (str(first.remaining()), str(second.remaining())) == ("59", "40")
    assert str(level.remaining()) == "0"


def test_the_unsound_selection_is_refused_where_there_is_a_ledger():
    wind = Candidate.of(TENNIS, "wind")
    with pytest.raises(RefusedVariant):
        whole().choose_with_local_sensitivity([[wind]], "play", [14], ONE)
