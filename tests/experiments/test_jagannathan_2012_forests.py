"""Jagannathan, Pillaipakkamnatt & Wright (2012): short versions of figures 1 to 5, and their parts.

Folds and structures are seeded and noise is not. In the long version runs have a standard deviation of
2 points (5 at epsilon = 0.01; 4 after ten batches), and every bound below is at least six deviations of a
mean away: each fails by chance less than once in 1e8 times.
"""

from __future__ import annotations

import numpy as np
import pytest
from experiments.common.experiment import reproduce
from experiments.common.report import write
from experiments.jagannathan_2012.data import prepared
from experiments.jagannathan_2012.forests import (
    NONE,
    OURS,
    PAPER,
    PRESENT,
    FirstRule,
    by_ensemble,
    learner_of,
    names_of,
)
from experiments.jagannathan_2012.run import EXPERIMENTS, HERE
from experiments.jagannathan_2012.sizing import Rows, accuracies, chosen, grown, made, read
from experiments.jagannathan_2012.vertical import HONEST, PRINTED, WHOLE, union

from bocage import Epsilon, study
from bocage.learners import RandomTrees
from bocage.learners.forest_size import paper_height


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The reports of the short versions, run once."""
    out = tmp_path_factory.mktemp("out")
    found = {e.name: e for e in EXPERIMENTS if e.name.startswith("figure")}
    made = {n: reproduce(e, HERE, out, short=True, quiet=True) for n, e in found.items()}
    for report in made.values():
        assert all(path.stat().st_size for path in write(report, out, pictures=("png",)))
    return made


@pytest.mark.parametrize(
    ("name", "trees", "height"),
    [
        ("nursery, 3 labels", 10, 4),
        ("nursery, 5 labels", 10, 4),
        ("mushroom, 21 attributes", 10, 4),
        ("mushroom", 10, 4),
        ("votes, imputed", 5, 7),
        ("votes", 5, 4),
    ],
)
def test_trees_and_heights_of_section_6_1(name, trees, height):
    data = prepared(name)
    config = {"data": name, "algorithm": PAPER, "ensembles": 1, "seed": 1}
    learner = learner_of(config, 0)
    assert (learner.trees, learner.height) == (trees, height)
    assert paper_height(data.schema, names_of(data.schema), len(data)) == height


def test_the_same_ensemble_serves_every_epsilon_and_the_next_draw():
    schema = prepared("votes").schema
    config = {"data": "votes", "algorithm": PAPER, "ensembles": 3, "seed": 1}
    drawn = [learner_of(config, i).structures(schema, None, None) for i in (0, 1, 3)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_boxes_are_over_ensembles():
    assert by_ensemble(np.array([1.0, 2, 3, 5, 6, 7]), 3).tolist() == [3, 4, 5]
    assert by_ensemble(np.array([1.0, 2]), 3).tolist() == [1, 2]


@pytest.mark.slow
def test_accuracy_falls_with_epsilon_and_the_rule_falls_later(reports):
    results = reports["figures1to3"].results
    mean = {(a, e): results.mean(algorithm=a, epsilon=e) for a in (PAPER,) for e in (NONE, 5.0, 0.01)}
    assert mean[PAPER, NONE] > 80
    assert mean[PAPER, 5.0] > 80
    assert mean[PAPER, 0.01] < 70
    assert results.mean(algorithm=OURS, epsilon=5.0) > 80


def test_more_batches_bring_more_noise(reports):
    results = reports["figure4"].results
    assert results.mean(batches=2) > results.mean(batches=10)


def test_two_owners_are_better_than_the_whole_table_even_at_the_honest_price(reports):
    results = reports["figure5"].results
    assert results.mean(algorithm=HONEST) > 78
    assert results.mean(algorithm=PRINTED) > 78
    assert 70 < results.mean(algorithm=WHOLE) < 93


def test_the_union_of_two_owners_costs_the_sum():
    data = prepared("votes")
    halves = (names_of(data.schema)[:8], names_of(data.schema)[8:])
    forests = [
        RandomTrees(trees=2, height=1, attributes=half).fit(study(data.table, data.schema), "0.25") for half in halves
    ]
    both = union(forests)
    assert (both.certificate.epsilon, len(both)) == ("0.5", 4)


def test_the_generated_tables_of_the_rule(tmp_path):
    rng = np.random.default_rng(3)
    points = rng.integers(0, 2, (500, 4))
    plain = Rows(points, (2,) * 4, (False,) * 4, points[:, 0], 2)
    leaf, leaves = grown(rng, plain, 6)[-1]
    assert leaves == len(np.unique(points, axis=0))  # all attributes are used on every path
    assert len(np.unique(np.column_stack([points, leaf]), axis=0)) == leaves
    rows = made(rng, [2] * 6, 2, 2400, skew=5, depth=2)
    found = accuracies(rng, rows, 400)
    assert found.shape == (7, 13, 8)
    assert 80 < found[-1].max() <= 100  # nine of ten labels follow a tree of two levels
    assert all(trees >= 3 and height >= 1 for trees, height in chosen(rows, 400, 1.0).values())
    lines = [f"{i * 0.5},{'ab'[i % 2]},{'no' if i < 50 else 'yes'}" for i in range(100)]
    (tmp_path / "t.dat").write_text("\n".join(lines))
    table = read(tmp_path / "t.dat")
    assert (table.values, table.numeric, table.labels) == ((1024, 2), (True, False), 2)
    assert table.points[:, 0].tolist() == sorted(table.points[:, 0].tolist())
    for leaf, leaves in grown(rng, table, 12):
        assert leaf.max() == leaves - 1
    assert [column.name for column in table.schema()] == ["a0", "a1", "y"]


def test_the_first_rule_is_kept_for_the_figures():
    schema = prepared("mushroom").schema
    drawn = FirstRule().structures(schema, 7312, Epsilon.of(1))
    assert len(drawn) == 9  # sqrt(73), rounded
    assert isinstance(learner_of({"algorithm": OURS, "ensembles": 1}, 0), FirstRule)
    assert type(learner_of({"algorithm": PRESENT, "ensembles": 1}, 0)) is RandomTrees
