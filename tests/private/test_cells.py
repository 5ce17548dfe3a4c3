"""What a learner asks inside its reservation: cells with one purse, and cells that pay for themselves."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.epsilon import UNIT, Epsilon
from bocage.errors import BudgetExceeded, PlanError, RefusedVariant
from bocage.mechanisms import Selection
from bocage.plan.splits import alone
from bocage.private import count as count_module
from bocage.private.choose import Candidate, Choose, Mode
from bocage.private.count import Count, Counts
from bocage.private.criteria import Blend, Gini, MaxOperator
from bocage.private.tables.histograms import Histograms
from bocage.private.unsound import LocalGini
from private.noises import SilentRecordingNoise
from private.tables import TENNIS, WEATHER, table

ONE = Epsilon.of(1)
FLIP = Selection.PERMUTE_AND_FLIP


def whole(noise=None):
    return table(WEATHER, TENNIS, noise=noise).reserve(100, "a tree")


def choice(among, epsilon, criterion=Gini()):  # noqa: B008 - it never changes
    """A choice among the same candidates or others in each cell."""
    candidates = tuple(map(tuple, among))
    selection = Selection.EXPONENTIAL
    return Choose(candidates, "play", criterion, selection, epsilon)


def choice_of_each(among, epsilons):
    each = tuple(epsilons)
    return Choose(tuple(map(tuple, among)), "play", Blend(), FLIP, max(each), each=each)


def counts_of_each(epsilons):
    each = tuple(epsilons)
    return Counts(("play",), max(each), each=each)


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
    below.ask(Histograms(tuple(map(tuple, columns)), "play", epsilon))
    assert below.remaining() == Epsilon.of(100) - epsilon
    scales = iter(noise.scales)
    for names in columns:  # a record is in one count of each histogram of its cell
        assert sum(1 / next(scales)[0] for _ in names) == epsilon.fraction
    assert next(scales, None) is None


@pytest.mark.parametrize("columns", [[], [["wind"]] * 2, [["wind"], [], ["wind"]], [["wind"] * 2] * 3, [["play"]] * 3])
def test_histograms_that_do_not_fit_the_cells_cost_nothing(columns):
    below = whole().split([("outlook", None)])
    with pytest.raises(PlanError):
        below.ask(Histograms(tuple(map(tuple, columns)), "play", ONE))
    assert below.remaining() == Epsilon.of(100)


def test_a_choice_is_checked_before_the_charge():
    below = whole().split([("outlook", None)])
    wind = Candidate.of(TENNIS, "wind")
    for among in ([[wind]] * 2, [[wind, wind]] * 3, [[Candidate("wind", 1, 1)]] * 3):
        with pytest.raises(PlanError):
            below.ask(choice(among, ONE))
    assert below.remaining() == Epsilon.of(100)
    splits = below.ask(choice([[wind]] * 3, ONE))
    assert splits == [("wind", None)] * 3


def test_a_learner_chooses_by_trusted_criteria_only():
    class Mine(MaxOperator):
        pass

    wind = Candidate.of(TENNIS, "wind")
    with pytest.raises(PlanError, match="no criterion"):
        whole().ask(choice([[wind]], ONE, Mine()))


def test_a_level_too_large_to_count_at_once_costs_the_same(monkeypatch):
    level = whole().split([("outlook", None)])
    expected = level.ask(Counts(("play",), ONE)).tolist()
    monkeypatch.setattr(count_module, "MOST_COUNTS", 4)  # room for one cell of two labels
    assert level.ask(Counts(("play",), ONE)).tolist() == expected
    assert str(level.remaining()) == "98"


def test_shares_of_a_reservation_add_up():
    level = whole()
    first, second = level.share("one", Epsilon.of(60)), level.share("two", Epsilon.of(40))
    first.ask(Count(ONE))
    assert (str(first.remaining()), str(second.remaining())) == ("59", "40")
    assert str(level.remaining()) == "0"


def test_the_unsound_selection_is_refused_where_there_is_a_ledger():
    wind = Candidate.of(TENNIS, "wind")
    with pytest.raises(RefusedVariant):
        whole().ask(LocalGini.of([[wind]], "play", [14], ONE))


def of(*amounts):
    return [Epsilon.of(amount) for amount in amounts]


def reserved(noise=None):
    return table(WEATHER, TENNIS, noise=noise).reserve(10, "a tree")


def below(noise=None):
    """Three cells that have 7 left each."""
    paths = reserved(noise).paths(Epsilon.of(8))
    (split,) = paths.ask(choice_of_each([[Candidate("outlook")]], of(1)))
    return paths.split([split])


def test_the_whole_amount_is_charged_before_the_first_question():
    level = reserved()
    level.paths(Epsilon.of(8))
    assert level.remaining() == Epsilon.of(2)
    with pytest.raises(BudgetExceeded):
        level.paths(Epsilon.of(3))


def test_every_cell_is_asked_at_its_own_epsilon():
    noise = SilentRecordingNoise()
    paths = below(noise)
    noise.scales.clear()
    counts = paths.ask(counts_of_each(of(1, 2, 4)))
    assert paths.purses() == of(6, 5, 3)
    assert [float(scale) for scale, _ in noise.scales] == [1, 0.5, 0.25]
    assert counts.sum() == 14


def test_children_start_with_what_their_parent_has_left():
    paths = below()
    chosen = paths.ask(choice_of_each([[Candidate("wind")]] * 3, of(1, 2, 3)))
    children = paths.split(chosen)
    assert children.purses() == of(6, 6, 5, 5, 4, 4)


def test_what_was_split_or_parted_cannot_be_asked_again():
    paths = below()
    some = paths.group({"some": [1], "none": [], "rest": [0, 2]})
    assert {key: len(cells) for key, cells in some.items()} == {"some": 1, "rest": 2}
    for again in (
        lambda: paths.ask(Mode("play", FLIP, ONE, each=tuple(of(1, 1, 1)))),
        lambda: paths.ask(Count(ONE)),
        lambda: paths.group({"first": [0]}),
        lambda: paths.split([("wind", None)] * 3),
    ):
        with pytest.raises(PlanError, match="what became of them"):
            again()


@pytest.mark.parametrize("epsilons", [of(1, 1), of(1, 1, 8), of(7, 7, 7.5)])
def test_a_cell_that_cannot_pay_stops_the_question_before_a_charge(epsilons):
    paths = below()
    with pytest.raises(PlanError, match="pays for itself"):
        paths.ask(counts_of_each(epsilons))
    assert paths.purses() == of(7, 7, 7)


def test_two_threads_cannot_spend_the_same_money():
    both = threading.Barrier(2, timeout=0.5)

    paths = below(SilentRecordingNoise())
    check = type(paths._executor)._check
    refused = []

    def ask():
        try:
            paths.ask(counts_of_each(of(4, 4, 4)))
        except PlanError:
            refused.append(1)

    def checked(executor, query, place):
        check(executor, query, place)
        with suppress(threading.BrokenBarrierError):
            both.wait()  # if both are found able to pay before either of them does

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(paths._executor), "_check", checked)
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert refused == [1]
    assert paths.purses() == of(3, 3, 3)


def test_a_forked_process_cannot_spend_what_its_parent_opened():
    paths = below()
    child = os.fork()
    if child == 0:
        refused = 0
        for again in (
            lambda: paths.ask(counts_of_each(of(7, 7, 7))),
            lambda: paths.group({"first": [0]}),
        ):
            try:
                again()
            except PlanError:
                refused += 1
        os._exit(refused)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    assert paths.ask(counts_of_each(of(7, 7, 7))).shape == (3, 2)


def test_one_value_against_the_rest_is_a_candidate_like_any_other():
    paths = reserved(SilentRecordingNoise()).paths(Epsilon.of(2))
    among = [[Candidate("outlook", values=(0, 1, 2))]]
    (split,) = paths.ask(choice_of_each(among, of(1)))
    sunny = TENNIS.categorical("outlook").index["sunny"]
    assert split == ("outlook", alone(sunny))  # 2 + 2 errors; every other value leaves 5
    counts = paths.split([split]).ask(counts_of_each(of(1, 1)))
    assert sorted(map(sorted, counts.tolist())) == [[2, 3], [2, 7]]


@pytest.mark.parametrize(
    "wrong",
    [
        Candidate("outlook", values=(3,)),
        Candidate("outlook", values=(0, 0)),
        Candidate("outlook", 1, 1),
        Candidate("outlook", step=2),
    ],
)
def test_candidates_that_do_not_fit_the_column_are_refused(wrong):
    paths = reserved().paths(Epsilon.of(2))
    with pytest.raises(PlanError):
        paths.ask(choice_of_each([[wrong]], of(1)))
    assert paths.purses() == of(2)


@pytest.mark.parametrize("query", [Count(ONE), Counts(("play",), ONE), Mode("play", FLIP, ONE)])
def test_cells_that_pay_for_themselves_pay_alike_where_nothing_else_is_said(query):
    paths = below()
    paths.ask(query)
    assert paths.purses() == of(6, 6, 6)


def test_what_each_cell_pays_is_what_its_noise_has():
    noise = SilentRecordingNoise()
    each, columns = tuple(of(1, 4, 2)), (("wind",), ("wind", "humidity"), ("wind",))
    below(noise).ask(Histograms(columns, "play", Epsilon.of(4), each=each))
    assert [float(scale) for scale, _ in noise.scales] == [1, 0.5, 0.5, 0.5]
    noise.scales.clear()
    below(noise).ask(Count(Epsilon.of(4), each=each))
    assert [(float(scale), size) for scale, size in noise.scales] == [(1, 1), (0.5, 1), (0.25, 1)]


@pytest.mark.parametrize(("epsilon", "each"), [(1, (1, 2, 1)), (2, (1, 1, 1)), (1, (1, 1)), (1, (1, 1, 0))])
def test_cells_with_one_purse_are_charged_the_largest_epsilon_of_them(epsilon, each):
    level = whole().split([("outlook", None)])
    amounts = tuple(Epsilon(amount * UNIT) for amount in each)
    for query in (
        Counts(("play",), Epsilon.of(epsilon), each=amounts),
        Mode("play", FLIP, Epsilon.of(epsilon), each=amounts),
    ):
        with pytest.raises(PlanError, match="largest epsilon of its cells"):
            level.ask(query)
    level.ask(counts_of_each(of(1, 5, 2)))
    assert level.remaining() == Epsilon.of(95)


def test_what_paths_have_left_is_not_shared_out_again():
    paths = below()
    for again in (lambda: paths.paths(ONE), lambda: paths.share("a share", ONE)):
        with pytest.raises(PlanError, match="not shared out again"):
            again()
    assert paths.purses() == of(7, 7, 7)
    assert paths.remaining() == Epsilon.of(7)


def test_a_cell_in_two_groups_uses_nothing_up():
    paths = below()
    with pytest.raises(PlanError, match="in one group only"):
        paths.group({"one": [0, 1], "two": [1, 2]})
    assert paths.purses() == of(7, 7, 7)


@pytest.mark.parametrize("wrong", [{"a": [3]}, {"a": [-1], "b": [2]}])
def test_groups_of_cells_that_there_are_not_use_nothing_up(wrong):
    for cells in (below(), whole().split([("outlook", None)])):
        before = cells.purses()
        with pytest.raises(PlanError, match="can be kept"):
            cells.group(wrong)
        assert cells.purses() == before


def test_what_is_asked_is_written_down_before_its_cells_are_handed_on(monkeypatch):
    paths, started, groups = below(), threading.Event(), []
    draw = Count.draw

    def slow(self, *exact):
        started.set()
        handing_on.join(0.2)
        return draw(self, *exact)

    def hand_on():
        started.wait()
        groups.append(paths.group({"first": [0]}))

    monkeypatch.setattr(Count, "draw", slow)
    handing_on = threading.Thread(target=hand_on)
    handing_on.start()
    paths.ask(Count(ONE))
    handing_on.join()
    groups[0]["first"].ask(Mode("play", FLIP, ONE))
    questions = [line.question for line in paths.transcript.lines()]
    assert questions[-2:] == ["count", "most frequent play"]
    assert not any(line.within for line in paths.transcript.lines()[:-1])
