"""A score as a tree or an additive model: it predicts the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.learners.score.models import OTHERS, SLOPE, additive_of, tree_of
from bocage.model import load
from bocage.model.additive.model import UNIT
from bocage.private import Drawn, DrawnOrdinalScore, DrawnScorecard
from learners.score.tables import (
    BLOCKS,
    CARD_BLOCKS,
    CARD_SCHEMA,
    SCHEMA,
)
from models import certificate_of


def decided(tree, codes):
    while tree.split is not None:
        name, at = tree.split
        tree = tree.below[codes[name] if at is None else int(codes[name] >= at)]
    return tree.label


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_tree_predicts_what_the_ordinal_score_says(data):
    gate, *chosen = data.draw(st.permutations(BLOCKS))
    chosen = chosen[: data.draw(st.integers(1, 3))]
    points = [tuple(data.draw(st.lists(st.integers(0, 3), min_size=b.size, max_size=b.size))) for b in chosen]
    rungs = 1 + 3 * len(chosen)
    gate = data.draw(st.sampled_from([gate, None]))
    labels = tuple(
        tuple(data.draw(st.lists(st.integers(0, 2), min_size=rungs, max_size=rungs)))
        for _ in range(1 if gate is None else gate.size)
    )
    score = DrawnOrdinalScore(gate, tuple(zip(chosen, points, strict=True)), labels)
    tree = tree_of(score, SCHEMA)
    lookups = {b.columns[0]: b.lookup(SCHEMA)[0] for b in BLOCKS}
    for a, b, n, m in product((0, 1), range(3), (0, 4, 5, 9, 10, 49, 50, 99), range(8)):
        codes = {"a": a, "b": b, "n": n, "m": m}
        cell = {name: int(lookups[name][code]) for name, code in codes.items()}
        rung = sum(own[cell[block.columns[0]]] for block, own in score.points)
        part = 0 if gate is None else cell[gate.columns[0]]
        assert decided(tree, codes) == labels[part][rung]


def test_a_tree_splits_only_where_something_differs():
    steep = ((BLOCKS[1], (0, 1, 3)), (BLOCKS[2], (0, 0, 1, 1)))
    labels = (0, 0, 0, 1, 1, 0, 0)
    tree = tree_of(DrawnOrdinalScore(BLOCKS[0], steep, (labels, labels)), SCHEMA)
    assert tree == Drawn(-1, ("b", None), (Drawn(0), Drawn(0), Drawn(1)))
    other = tree_of(DrawnOrdinalScore(BLOCKS[0], steep, (labels, (1,) * 7)), SCHEMA)
    assert other == Drawn(-1, ("a", None), (tree, Drawn(1)))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_model_predicts_what_the_points_say(data):
    chosen = data.draw(st.lists(st.sampled_from(CARD_BLOCKS), unique=True, max_size=3))
    points = [tuple(data.draw(st.lists(st.integers(0, 2), min_size=b.size, max_size=b.size))) for b in chosen]
    low, high = sorted(data.draw(st.sampled_from([(0, 1), (0, 2), (1, 2)])))
    threshold = data.draw(st.integers(1, 6)) if chosen else 0
    card = DrawnScorecard(tuple(zip(chosen, points, strict=True)), threshold, (low, high) if chosen else (high, high))
    top = 1 + sum(max(own) for own in points)
    counts = data.draw(st.none() | st.lists(st.integers(-5, 50), min_size=3 * top, max_size=3 * top))
    noisy = None if counts is None else np.array(counts).reshape(top, 3)
    model = additive_of(CARD_SCHEMA, card, noisy, certificate_of(CARD_SCHEMA))
    codes = {
        "a": np.array([0, 1, 1, 0, 1, 0]),
        "b": np.array([0, 1, 2, 2, 1, 0]),
        "n": np.array([0, 7, 49, 50, 99, 4]),
    }
    given = np.zeros(6, int)
    for block, own in card.points:
        given += np.array(own)[block.lookup(CARD_SCHEMA)[0][codes[block.columns[0]]]]
    expected = np.where(given >= threshold, high, low) if chosen else np.full(6, high)
    assert model.predict_codes(codes).tolist() == expected.tolist()


def test_a_point_is_worth_what_the_counts_say():
    """Rows with odds of 3 to 1 for each point more: their logarithm is near 1.1."""
    card = DrawnScorecard(((CARD_BLOCKS[1], (0, 1, 2)),), 1, (0, 2))
    counts = np.array([[300, 0, 173], [173, 5, 300], [100, 0, 520]])
    model = additive_of(CARD_SCHEMA, card, counts, certificate_of(CARD_SCHEMA))
    assert model.terms[0].scores[:, 2].tolist() == [0, 1218, 2436]  # the nearest slope
    assert model.intercept.tolist() == [0, -OTHERS * UNIT, -609]
    guessed = additive_of(CARD_SCHEMA, card, None, certificate_of(CARD_SCHEMA))
    assert guessed.terms[0].scores[1, 2] == SLOPE * UNIT
    flat = additive_of(CARD_SCHEMA, card, np.full((3, 3), 100), certificate_of(CARD_SCHEMA))
    assert 0 < flat.terms[0].scores[1, 2] < 100


def test_a_model_that_names_its_learner_as_it_was_called_before_is_read(tmp_path):
    """The name in a certificate is text."""
    before = replace(certificate_of(CARD_SCHEMA), learner="points")
    model = additive_of(CARD_SCHEMA, DrawnScorecard(((CARD_BLOCKS[1], (0, 1, 2)),), 1, (0, 2)), None, before)
    model.save(tmp_path / "model.json")
    stored = load(tmp_path / "model.json")
    assert stored.certificate == model.certificate
    assert stored.certificate.learner == "points"
