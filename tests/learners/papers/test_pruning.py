"""Pruning and voting on trees that are small enough to be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.learners.papers.pruning import (
    bottom_up_aggregate,
    prune_by_gini,
    prune_with_noisy_counts,
    top_down_correct,
)
from bocage.model import Certificate, Forest, TreeBuilder
from bocage.schema import Categorical, Numeric, Schema
from learners.oracle import nested

SCHEMA = Schema(
    "votes",
    (
        Categorical("spending", ("n", "y", "u")),
        Categorical("aid", ("n", "y")),
        Numeric("age", lower=0, upper=9, step=1),
    ),
    label=Categorical("party", ("democrat", "republican")),
)
NOTHING = Certificate("by hand", "", None, "", SCHEMA.name, SCHEMA.fingerprint)


def grown(shape, schema=SCHEMA):
    """A tree from (total, counts) or (total, counts, column, threshold, children)."""
    tree = TreeBuilder(schema)

    def add(node, total, counts, *split):
        if total is not None:
            tree.total(node, total)
        if counts is not None:
            tree.counts(node, counts)
        if split:
            column, at, children = split
            for child, below in zip(tree.split(node, column, at), children, strict=True):
                add(child, *below)

    add(tree.root, *shape)
    return tree.freeze(NOTHING)


def test_algorithm_3_makes_sizes_and_class_counts_add_up():
    tree = grown((100, None, "aid", None, [(30, [10, 20]), (20, [-5, 10])]))
    sizes = top_down_correct(tree)
    assert sizes.tolist() == [100, 60, 40]  # 100 parted as 30 : 20
    counts = bottom_up_aggregate(tree, sizes)
    assert counts.tolist() == [[20, 80], [20, 40], [0, 40]]  # 10 : 20 of 60, 0 : 10 of 40


def test_algorithm_3_parts_evenly_where_nothing_positive_is_known():
    tree = grown((40, None, "aid", None, [(-3, [-1, -2]), (0, [0, 0])]))
    sizes = top_down_correct(tree)
    assert sizes.tolist() == [40, 20, 20]
    assert bottom_up_aggregate(tree, sizes).tolist() == [[20, 20], [10, 10], [10, 10]]


def test_algorithm_3_of_an_empty_root_is_all_zero():
    tree = grown((-7, None, "aid", None, [(5, [4, 1]), (3, [3, 0])]))
    sizes = top_down_correct(tree)
    assert sizes.tolist() == [0, 0, 0]
    assert not bottom_up_aggregate(tree, sizes).any()
    assert len(prune_with_noisy_counts(tree, 0.25)) == 1


def test_quinlans_subtree_is_pruned():
    # Quinlan (1993), 4.2: 6 U(0,6) + 9 U(0,9) + 1 U(0,1) = 3.27 errors against 16 U(1,16) = 2.5.
    leaves = [(6, [6, 0]), (9, [9, 0]), (1, [0, 1])]
    pruned = prune_with_noisy_counts(grown((16, None, "spending", None, leaves)), 0.25)
    assert nested(pruned) == (15, 1)
    assert pruned.predict({"spending": ["u"]}).tolist() == ["democrat"]


def test_a_split_that_parts_the_classes_stays():
    leaves = [(50, [50, 0]), (50, [0, 50])]
    tree = grown((100, None, "age", 4, leaves))
    assert nested(prune_with_noisy_counts(tree, 0.25)) == ("age", 4, ((50, 0), (0, 50)))


def test_pruning_goes_on_above_a_pruned_node():
    useless = (40, None, "aid", None, [(20, [18, 2]), (20, [18, 2])])
    tree = grown((80, None, "age", 4, [useless, (40, [37, 3])]))
    assert len(prune_with_noisy_counts(tree, 0.25)) == 1
    useful = (40, None, "aid", None, [(20, [20, 0]), (20, [0, 20])])
    tree = grown((80, None, "age", 4, [useful, useless]))
    kept = ("age", 4, (("aid", None, ((20, 0), (0, 20))), (36, 4)))
    assert nested(prune_with_noisy_counts(tree, 0.25)) == kept


counts = st.tuples(*[st.integers(-50, 200)] * 2).map(list)


@given(counts, counts, counts, st.tuples(*[st.integers(-100, 400)] * 3))
def test_corrected_counts_add_up_and_are_never_negative(a, b, c, totals):
    tree = grown(
        (totals[0], None, "spending", None, list(zip(totals, [a, b, c], strict=True)))
    )  # fmt: skip
    sizes = top_down_correct(tree)
    classes = bottom_up_aggregate(tree, sizes)
    assert classes.min() >= 0
    assert np.allclose(classes.sum(axis=1), sizes)
    assert np.isclose(sizes[1:].sum(), sizes[0])
    assert len(prune_with_noisy_counts(tree, 0.25)) in {1, 4}


@pytest.mark.parametrize(
    ("parent", "children", "cut"),
    [
        ([50, 50], [[30, 30], [20, 20]], True),  # -1/2 on both sides: no better, so cut (eq. 27)
        ([60, 40], [[30, 30], [20, 20]], True),  # -0.48 against -0.5: noise made the parent purer
        ([60, 40], [[50, 0], [10, 40]], False),  # -0.48 against (0 - 0.32) / 2
        ([60, 40], [[50, -10], [10, 40]], False),  # a negative count is 0: pure, not purer
        ([90, -5], [[30, 0], [60, 1]], True),  # the parent looks pure
        ([0, 0], [[5, 0], [0, 5]], True),  # an empty parent is pure by definition
        ([-3, 9], [[-1, -1], [-2, 0]], True),  # children without records weigh the same
    ],
)
def test_dpdf_cuts_leaves_that_are_no_purer_than_their_parent(parent, children, cut):
    tree = prune_by_gini(grown((None, parent, "aid", None, [(None, c) for c in children])))
    expected = tuple(parent) if cut else ("aid", None, tuple(map(tuple, children)))
    assert nested(tree) == expected


def test_dpdf_pruning_climbs_until_nothing_changes():
    # The lower split is cut first; what is left below the root is then no purer than the root.
    lower = (None, [30, 30], "aid", None, [(None, [15, 15]), (None, [16, 14])])
    upper = (None, [60, 40], "age", 4, [lower, (None, [20, 20])])
    assert nested(prune_by_gini(grown(upper))) == ("age", 4, (
        ("aid", None, ((15, 15), (16, 14))), (20, 20)
    ))  # fmt: skip
    lower = (None, [30, 30], "aid", None, [(None, [15, 15]), (None, [15, 15])])
    upper = (None, [60, 40], "age", 4, [lower, (None, [20, 20])])
    assert nested(prune_by_gini(grown(upper))) == (60, 40)


def test_trees_vote_with_their_confidence():
    def forest(*leaves):
        return Forest(tuple(grown((None, leaf)) for leaf in leaves), "confidence", NOTHING)

    rows = {"spending": ["n"]}
    assert forest([9, 1], [4, 6]).predict(rows).tolist() == ["democrat"]  # 0.9 against 0.6
    three = forest([9, 1], [4, 6], [45, 55])
    assert three.predict(rows).tolist() == ["republican"]  # 0.9 against 1.15
    assert three.predict_proba(rows)[0].tolist() == pytest.approx([0.9 / 2.05, 1.15 / 2.05])
    assert forest([50, -10], [1, 9]).predict(rows).tolist() == ["democrat"]  # 1 at most, not 1.25
    assert forest([-4, -2], [3, 2]).predict(rows).tolist() == ["democrat"]  # no record, no vote
