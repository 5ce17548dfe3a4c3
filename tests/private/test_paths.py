"""Paths that spend different amounts: each pays for itself, none pays twice with the same money."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest

from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, PlanError
from bocage.mechanisms import Selection
from bocage.plan.splits import alone
from bocage.private.choose import Candidate
from bocage.private.criteria import Blend
from private.noises import SilentRecordingNoise
from private.tables import TENNIS, WEATHER, table

FLIP = Selection.PERMUTE_AND_FLIP


def of(*amounts):
    return [Epsilon.of(amount) for amount in amounts]


def whole(noise=None):
    return table(WEATHER, TENNIS, noise=noise).reserve(10, "a tree")


def below(noise=None):
    """Three cells that have 7 left each."""
    paths = whole(noise).paths(Epsilon.of(8))
    (split,) = paths.choose([[Candidate("outlook")]], "play", Blend(), FLIP, of(1))
    return paths.split([split])


def test_the_whole_amount_is_charged_before_the_first_question():
    level = whole()
    level.paths(Epsilon.of(8))
    assert level.remaining() == Epsilon.of(2)
    with pytest.raises(BudgetExceeded):
        level.paths(Epsilon.of(3))


def test_every_cell_is_asked_at_its_own_epsilon():
    noise = SilentRecordingNoise()
    paths = below(noise)
    noise.scales.clear()
    counts = paths.counts("play", of(1, 2, 4))
    assert paths.remaining() == of(6, 5, 3)
    assert [float(scale) for scale, _ in noise.scales] == [1, 0.5, 0.25]
    assert counts.sum() == 14


def test_children_start_with_what_their_parent_has_left():
    paths = below()
    chosen = paths.choose([[Candidate("wind")]] * 3, "play", Blend(), FLIP, of(1, 2, 3))
    children = paths.split(chosen)
    assert children.remaining() == of(6, 6, 5, 5, 4, 4)


def test_what_was_split_or_parted_cannot_be_asked_again():
    paths = below()
    some, rest = paths.part([1])
    assert len(some) == 1
    assert len(rest) == 2
    for again in (lambda: paths.modes("play", FLIP, of(1, 1, 1)), lambda: paths.part([0])):
        with pytest.raises(PlanError, match="what became of them"):
            again()
    assert paths is not some


@pytest.mark.parametrize("epsilons", [of(1, 1), of(1, 1, 8), of(7, 7, 7.5)])
def test_a_cell_that_cannot_pay_stops_the_question_before_a_charge(epsilons):
    paths = below()
    with pytest.raises(PlanError, match="pays for itself"):
        paths.counts("play", epsilons)
    assert paths.remaining() == of(7, 7, 7)


def test_two_threads_cannot_spend_the_same_money():
    both = threading.Barrier(2, timeout=0.5)

    paths = below(SilentRecordingNoise())
    check = type(paths._executor)._check
    refused = []

    def ask():
        try:
            paths.counts("play", of(4, 4, 4))
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
    assert paths.remaining() == of(3, 3, 3)


def test_a_forked_process_cannot_spend_what_its_parent_opened():
    paths = below()
    child = os.fork()
    if child == 0:
        refused = 0
        for again in (lambda: paths.counts("play", of(7, 7, 7)), lambda: paths.part([0])):
            try:
                again()
            except PlanError:
                refused += 1
        os._exit(refused)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    assert paths.counts("play", of(7, 7, 7)).shape == (3, 2)


def test_one_value_against_the_rest_is_a_candidate_like_any_other():
    paths = whole(SilentRecordingNoise()).paths(Epsilon.of(2))
    among = [[Candidate("outlook", values=(0, 1, 2))]]
    (split,) = paths.choose(among, "play", Blend(), FLIP, of(1))
    sunny = TENNIS.categorical("outlook").index["sunny"]
    assert split == ("outlook", alone(sunny))  # 2 + 2 errors; every other value leaves 5
    counts = paths.split([split]).counts("play", of(1, 1))
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
    paths = whole().paths(Epsilon.of(2))
    with pytest.raises(PlanError):
        paths.choose([[wrong]], "play", Blend(), FLIP, of(1))
    assert paths.remaining() == of(2)
