from __future__ import annotations

import pytest

from bocage.errors import ModelError
from bocage.model import Tree, TreeBuilder
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of, schema_of

SCHEMA = schema_of(Categorical("c", ("x", "y", "z")), Numeric("n", 0, 9, step=1))
CERTIFICATE = certificate_of(SCHEMA)


def freeze(builder: TreeBuilder) -> Tree:
    return builder.freeze(CERTIFICATE)


def test_nodes_are_renumbered_level_by_level():
    builder = TreeBuilder(SCHEMA)
    left, right = builder.split(0, "n", 5)
    deep = builder.split(right, "n", 7)  # nodes 3 and 4, below the second child
    wide = builder.split(left, "c")  # nodes 5, 6 and 7, below the first
    for node in (*deep, *wide):
        builder.label(node, 0)
        builder.total(node, node)
    tree = freeze(builder)
    assert tree.total.tolist() == [0, 0, 0, 5, 6, 7, 3, 4]
    assert tree.first_child.tolist() == [1, 3, 6, -1, -1, -1, -1, -1]
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1, 1, 2, 2]
    assert tree.depth.tolist() == [0, 1, 1, 2, 2, 2, 2, 2]
    assert tree.depth_ == 2


def test_a_leaf_decides_for_its_largest_count_the_first_of_several():
    builder = TreeBuilder(SCHEMA)
    first, second, third = builder.split(0, "c")
    builder.counts(first, [-2, -1])
    builder.counts(second, [4, 4])
    builder.counts(third, [9, 0])
    builder.label(third, 1)  # said explicitly
    assert freeze(builder).label.tolist()[1:] == [1, 0, 1]


def test_an_inner_node_decides_by_its_own_counts_before_those_below():
    builder = TreeBuilder(SCHEMA)
    builder.counts(0, [1, 2])
    for leaf in builder.split(0, "n", 5):
        builder.counts(leaf, [50, 0])
    assert freeze(builder).label.tolist() == [1, 0, 0]


def test_an_inner_node_without_counts_adds_up_the_leaves():
    builder = TreeBuilder(SCHEMA)
    for leaf, counts in zip(builder.split(0, "c"), ([5, 1], [0, 9], [3, 1]), strict=True):
        builder.counts(leaf, counts)
    assert freeze(builder).label[0] == 1  # 8 against 11


def test_leaves_vote_once_each_if_one_of_them_has_no_counts():
    builder = TreeBuilder(SCHEMA)
    first, second, third = builder.split(0, "c")
    builder.counts(first, [1, 0])
    builder.counts(second, [0, 99])
    builder.label(third, 0)
    assert freeze(builder).label[0] == 0  # two leaves against one


def test_a_count_beyond_every_table_is_cut():
    builder = TreeBuilder(SCHEMA)
    builder.counts(0, [10**30, -(10**30)])
    assert freeze(builder).counts.tolist() == [[2**42, -(2**42)]]


def test_what_cannot_be_grown_is_refused():
    builder = TreeBuilder(SCHEMA)
    for threshold in (0, 10, -1):
        with pytest.raises(ModelError, match=r"1\.\.9"):
            builder.split(0, "n", threshold)
    with pytest.raises(ModelError, match="no attribute"):
        builder.split(0, "label")
    with pytest.raises(ModelError, match="no node 1"):
        builder.split(1, "c")
    with pytest.raises(ModelError, match="2 label counts, not 3"):
        builder.counts(0, [1, 2, 3])
    with pytest.raises(ModelError, match="label code"):
        builder.label(0, 2)
    builder.split(0, "c")
    with pytest.raises(ModelError, match="already split"):
        builder.split(0, "c")
    with pytest.raises(ModelError, match="neither counts nor a decision"):
        freeze(builder)


def test_a_schema_without_label_makes_no_model():
    with pytest.raises(ModelError, match="labels"):
        TreeBuilder(Schema("t", (Categorical("c", ("x",)),)))
