"""Scores in words."""

from __future__ import annotations

from dataclasses import replace

from bocage.learners.score.models import additive_of
from bocage.learners.score.text import ordinal_score_in_words
from bocage.private import DrawnOrdinalScore, DrawnScorecard
from learners.score.tables import (
    BLOCKS,
    CARD_BLOCKS,
    CARD_SCHEMA,
    SCHEMA,
)
from models import certificate_of


def test_an_ordinal_score_is_told_in_words():
    score = DrawnOrdinalScore(
        BLOCKS[0],
        ((BLOCKS[1], (0, 1, 1)), (BLOCKS[2], (2, 2, 1, 0)), (BLOCKS[3], (0, 0, 0, 1))),
        ((0, 0, 1, 2, 2, 0, 0), (1,) * 7),
    )
    assert list(ordinal_score_in_words(score, SCHEMA)) == [
        "The tree is a ladder: points add up, and their sum decides.",
        "Points: 0 if b is p, 1 if b in q, r.",
        "Points: 2 if n < 10, 1 if 10 ≤ n < 50, 0 if n ≥ 50.",
        "Points: 0 if m < 6, 1 if m ≥ 6.",
        "Where a is x: 0 to 1 points low, 2 points middle, 3 to 4 points high.",
        "Where a is y: 0 to 4 points middle.",
    ]
    alone = DrawnOrdinalScore(None, ((BLOCKS[1], (2, 1, 0)),), ((0, 1, 2),))
    assert list(ordinal_score_in_words(alone, SCHEMA))[1:] == [
        "Points: 2 if b is p, 1 if b is q, 0 if b is r.",
        "0 points low, 1 point middle, 2 points high.",
    ]


def test_a_scorecard_is_told_in_words():
    card = DrawnScorecard(((CARD_BLOCKS[1], (0, 1, 1)), (CARD_BLOCKS[2], (2, 2, 1, 0))), 1, (0, 2))
    model = additive_of(CARD_SCHEMA, card, None, replace(certificate_of(CARD_SCHEMA), notes=("Before.",)))
    assert model.certificate.notes == (
        "Before.",
        "The model is a point system: yes from 1 point on, else no.",
        "Points: 0 if b is p, 1 if b in q, r.",
        "Points: 2 if n < 10, 1 if 10 ≤ n < 50, 0 if n ≥ 50.",
    )
    alone = additive_of(CARD_SCHEMA, DrawnScorecard((), 0, (1, 1)), None, certificate_of(CARD_SCHEMA))
    assert alone.certificate.notes == ("One label for all rows: maybe.",)
