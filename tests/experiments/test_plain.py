"""The baselines, against scikit-learn and against what can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.common.plain import c45, id3, predict, without_noise
from sklearn.tree import DecisionTreeClassifier

from bocage.learners import DiffPID3
from private.tables import TENNIS, WEATHER

TENNIS_CODES = np.array([[a.index[v] for v in WEATHER[a.name]] for a in TENNIS.attributes], int).T
TENNIS_LABELS = np.array([TENNIS.label.index[v] for v in WEATHER["play"]])


def test_id3_grows_the_textbook_tree():
    tree = id3(TENNIS_CODES, TENNIS_LABELS, [3, 3, 2, 2], 2)
    assert tree.column == 1  # outlook
    sunny, overcast, rain = tree.branches
    assert (sunny.column, overcast.column, rain.column) == (2, -1, 3)  # humidity, yes, wind
    assert (predict(tree, TENNIS_CODES) == TENNIS_LABELS).all()


def test_our_learner_without_noise_grows_it_too():
    table = without_noise(WEATHER, TENNIS)
    tree = DiffPID3(depth=2, criterion="information_gain").fit(table, 1000)
    assert (tree.predict(WEATHER) == np.array(WEATHER["play"])).all()


def test_id3_agrees_with_entropy_trees_on_binary_attributes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (4000, 6))
    labels = (codes[:, 0] & codes[:, 1]) ^ (rng.random(4000) < 0.1)
    tree = id3(codes, labels, [2] * 6, 2)
    peer = DecisionTreeClassifier(criterion="entropy").fit(codes, labels)
    assert (predict(tree, codes) == peer.predict(codes)).mean() > 0.99  # ties may differ


def test_a_branch_without_records_decides_by_its_parent_or_not_at_all():
    codes = np.array([[0], [0], [1], [1], [1]])
    tree = id3(codes, np.array([0, 0, 1, 1, 1]), [3], 2)
    assert predict(tree, np.array([[2]])).tolist() == [1]
    assert predict(tree, np.array([[2]]), empty=-1).tolist() == [-1]


@pytest.mark.parametrize("prune", [True, False])
def test_pruning_takes_away_what_noise_grew(prune):
    rng = np.random.default_rng(1)
    features = rng.random((2000, 5))
    labels = (features[:, 0] > 0.35) ^ (rng.random(2000) < 0.1)
    test = rng.random((5000, 5))
    truth = test[:, 0] > 0.35
    right = (c45(features, labels, prune=prune).predict(test) == truth).mean()
    assert bool(right > 0.93) is prune
