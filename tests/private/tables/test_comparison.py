"""Released models compared: nothing but Bocage's own models may see the rows."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import permute_and_flip_probabilities
from bocage.mechanisms.loss import privacy_loss
from bocage.model import Certificate, Tree, TreeBuilder
from bocage.private.dry_run import made_up_rows
from bocage.private.tables.comparison import BestModel
from models import additives, schemas
from private.noises import SilentRecordingNoise
from private.tables import TENNIS, WEATHER, table


class Curious(Tree):
    """Keeps what it is asked to predict."""

    seen: list = []  # noqa: RUF012 - what a thief would do

    def predict_codes(self, codes):
        self.seen.append(codes)
        return super().predict_codes(codes)


def leaf(kind=Tree, code=0):
    built = TreeBuilder(TENNIS)
    built.label(built.root, code)
    tree = built.freeze(Certificate("t", "", None, "add_remove", "t", TENNIS.fingerprint, ()))
    return kind(**{one.name: getattr(tree, one.name) for one in fields(tree) if one.init})


def test_a_model_of_another_kind_is_refused_before_anything_is_charged_or_read():
    level = table(WEATHER, TENNIS, noise=SilentRecordingNoise()).reserve(10, "models")
    for pair in ((leaf(Curious), leaf()), (leaf(), leaf(Curious))):
        with pytest.raises(PlanError, match="no others"):
            level.fit(BestModel(pair, "play", Epsilon.of(1)))
    assert not Curious.seen
    assert level.remaining() == Epsilon.of(10)


def test_the_score_of_a_model_counts_every_row_that_it_gets_right():
    noise = SilentRecordingNoise()
    level = table(WEATHER, TENNIS, noise=noise).reserve(10, "models")
    models = (leaf(code=0), leaf(code=1))
    assert level.fit(BestModel(models, "play", Epsilon.of(1))) == 1
    assert level.fit(BestModel(models, "play", Epsilon.of(1), handicaps=(0, 5))) == 0
    first, second = (contest for contest, _ in noise.contests)
    assert first.scores.tolist() == [5, 9]
    assert second.scores.tolist() == [5, 4]
    assert first.rate == 1
    assert level.remaining() == Epsilon.of(8)


def test_a_part_of_the_errors_may_be_forgiven():
    noise = SilentRecordingNoise()
    level = table(WEATHER, TENNIS, noise=noise).reserve(10, "models")
    models = (leaf(code=0), leaf(code=1))
    assert level.fit(BestModel(models, "play", Epsilon.of(1), forgiven=(50, 0))) == 0
    assert level.fit(BestModel(models, "play", Epsilon.of(1), (0, 1), forgiven=(0, 100))) == 1
    first, second = (contest for contest, _ in noise.contests)
    assert first.scores.tolist() == [5 * 100 + 9 * 50, 9 * 100]
    assert second.scores.tolist() == [5 * 100, 14 * 100 - 100]
    assert first.rate == Fraction(1, 100)  # a row more adds 100 at most
    for wrong in ((10,), (0, 101), (-1, 0)):
        with pytest.raises(PlanError, match="0 to 100 of 100 errors"):
            level.fit(BestModel(models, "play", Epsilon.of(1), forgiven=wrong))
    assert level.remaining() == Epsilon.of(8)


def test_one_row_more_costs_no_more_than_epsilon_where_errors_are_forgiven():
    """The exact probabilities of the choice, with every row taken away in turn."""
    models, losses = (leaf(code=0), leaf(code=1)), []

    def law(rows):
        noise = SilentRecordingNoise()
        level = table(rows, TENNIS, noise=noise).reserve(10, "models")
        level.fit(BestModel(models, "play", Epsilon.of("1.5"), forgiven=(0, 30)))
        return permute_and_flip_probabilities(noise.contests[0][0])

    whole = law(WEATHER)
    for i in range(14):
        less = law({name: [*values[:i], *values[i + 1 :]] for name, values in WEATHER.items()})
        losses += [privacy_loss(whole, less), privacy_loss(less, whole)]
    assert 0.2 < max(losses) <= 1.5


def test_a_model_of_another_schema_is_refused():
    from dataclasses import replace

    other = replace(TENNIS, name="other")
    level = table(WEATHER, other, noise=SilentRecordingNoise()).reserve(10, "models")
    with pytest.raises(PlanError, match="own schema"):
        level.fit(BestModel((leaf(),), "play", Epsilon.of(1)))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_additive_models_are_right_as_often_as_they_predict_it(data):
    schema = data.draw(schemas())
    models = data.draw(st.lists(additives(schema), min_size=1, max_size=3))
    rows = made_up_rows(schema, 30)
    noise = SilentRecordingNoise()
    level = table(rows, schema, noise=noise).reserve(1, "models")
    level.fit(BestModel(tuple(models), schema.label.name, Epsilon.of(1)))
    ((contest, _),) = noise.contests
    truth = np.array(rows[schema.label.name])
    assert contest.scores.tolist() == [int((m.predict(rows) == truth).sum()) for m in models]
