"""Exact privacy loss of tables of counts, over all tiny tables and neighbors.

What is released is adaptive: which attributes are paired follows from the tables of single ones, and the
models to choose from follow from all tables. So the loss is worked out for every set of pairs, and for models
of many kinds: the loss of a whole fit is at most the sum of the largest losses of its releases.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from bocage.learners import Bayes
from bocage.learners.bayes import learner
from bocage.learners.bayes.learner import CHOICE, PAIRS, SINGLES
from bocage.mechanisms import (
    Adjacency,
    permute_and_flip_probabilities,
    privacy_loss,
)
from bocage.private.noise_shares import groups_of
from bocage.private.tables.comparison import BestModel
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentRecordingNoise
from private.tables import table

TINY = Schema(
    "tiny",
    (
        Categorical("a", ("u", "v")),
        Categorical("b", ("u", "v", "w")),
        Numeric("x", lower=0, upper=3, step=1),
    ),
    label=Categorical("c", ("no", "yes")),
    row_cap=3,
)
RECORDS = list(product(("u", "v"), ("u", "w"), (0, 2), ("no", "yes")))
SLACK = Decimal("1e-12")


def private(rows, noise, adjacency):
    columns = {c.name: [record[i] for record in rows] for i, c in enumerate(TINY)}
    return table(columns, TINY, noise=noise, adjacency=adjacency)


def neighbors(adjacency):
    for rows in combinations_with_replacement(RECORDS[::5], 2):
        for record in RECORDS:
            yield (
                rows,
                ((*rows, record) if adjacency is Adjacency.ADD_REMOVE else (rows[0], record)),
            )


@pytest.fixture
def exact(monkeypatch):
    """The exact counts of every release, in order."""
    found = []
    draw = ConsistentCounts.draw

    def watched(self, tally, terms, noise):
        found.append(([router.count for router in self.routers], tally.totals.copy()))
        return draw(self, tally, terms, noise)

    monkeypatch.setattr(ConsistentCounts, "draw", watched)
    return found


def loss_of(before, after, sizes, bodies):
    """The loss of a density exp(-norm): the norm of what moves, which some output attains."""
    tables = np.split(after - before, np.cumsum(sizes)[:-1])
    groups, loss = groups_of(sizes), Fraction(0)
    assert len(bodies) == 2 * len(groups)
    for at, body in enumerate(bodies):
        label, group = divmod(at, len(groups))
        moved = [tables[i][:, label] for i in groups[group]]
        assert body.sizes == tuple(map(len, moved))
        assert len({int(table.sum()) for table in moved}) == 1  # else the density is another
        loss += body.rate * max(int(np.abs(table).sum()) for table in moved)
    return loss


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("choice", [True, False])
def test_all_tables_of_single_attributes_lose_their_share_and_no_more(monkeypatch, exact, adjacency, choice):
    """Where there is no choice between models, its share is theirs."""
    monkeypatch.setattr(learner, "TOLD_APART", 0 if choice else 10**9)
    monkeypatch.setattr(learner, "FEEDS", 1e-9)  # few records do for all attributes
    plan, largest = Bayes(pairs=False).plan(TINY, 1), Fraction(0)
    share = plan.share(0, SINGLES).fraction
    if not choice:
        share += plan.share(0, CHOICE).fraction
    for pair in neighbors(adjacency):
        exact.clear()
        for rows in pair:
            noise = SilentRecordingNoise()
            Bayes(pairs=False).fit(private(rows, noise, adjacency), 1)
        (sizes, before), (_, after) = exact
        assert sizes == [2, 3, 4]
        largest = max(largest, loss_of(before, after, sizes, noise.bodies[-1]))
    assert largest == share


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("many", [1, 2, 3])
def test_every_set_of_pairs_loses_the_share_of_pairs_and_no_more(monkeypatch, exact, adjacency, many):
    share = Bayes().plan(TINY, 1).share(0, PAIRS).fraction
    monkeypatch.setattr(Bayes, "room", staticmethod(lambda *_: 1e9))
    for chosen in combinations([(0, 1), (0, 2), (1, 2)], many):
        monkeypatch.setattr(Bayes, "chosen", staticmethod(lambda *_, c=chosen: list(c)))
        largest = Fraction(0)
        for pair in list(neighbors(adjacency))[::5]:
            exact.clear()
            for rows in pair:
                noise = SilentRecordingNoise()
                Bayes().fit(private(rows, noise, adjacency), 1)
            (_, (_, before), _, (sizes, after)) = exact  # single attributes, pairs, and again
            assert len(sizes) == many
            largest = max(largest, loss_of(before, after, sizes, noise.bodies[-1]))
        assert largest == share


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_choice_of_a_model_loses_its_share_and_no_more(adjacency):
    """The models are the same for both neighbors: they are released. Their scores are not."""
    share = Bayes().plan(TINY, 1).share(0, CHOICE)
    models = [
        Bayes(pairs=False).fit(private(rows, SilentRecordingNoise(), adjacency), 10**5)
        for rows in combinations_with_replacement(RECORDS[::3], 2)
    ]
    largest = Decimal(0)
    for among in list(combinations(models, 4))[::401]:
        for pair in list(neighbors(adjacency))[::5]:
            chances = []
            for rows in pair:
                noise = SilentRecordingNoise()
                level = private(rows, noise, adjacency).reserve(1, "models")
                level.fit(BestModel(tuple(among), "c", share))
                ((contest, _),) = noise.contests
                chances.append(permute_and_flip_probabilities(contest))
            largest = max(largest, privacy_loss(*chances))
    assert largest <= Decimal(str(share)) + SLACK
    assert largest > Decimal(str(share)) * Decimal("0.7")
