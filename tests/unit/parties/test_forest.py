from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bocage.learners.structure import Structure, random_structure
from bocage.model import Certificate
from bocage.parties.forest import frozen
from parties.owners import PATIENTS

NOTHING = Certificate("test", "none", None, "add_remove", "patients", PATIENTS.fingerprint)
COLUMNS = ("smokes", "home", "age")


@given(st.integers(1, 5), st.integers(0, 2**32), st.integers(1, 50))
def test_the_arrays_are_those_that_the_builder_makes(height, seed, spread):
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    structures = [random_structure(PATIENTS, COLUMNS, height, random, 2**18) for _ in range(2)]
    sizes = [structure.splits.count(None) for structure in structures]
    counts = [np.random.default_rng(seed).integers(-spread, spread, (n, 2)) for n in sizes]
    values = np.concatenate([one.ravel() for one in counts])
    trees = list(frozen(structures, PATIENTS, values, NOTHING))
    for tree, structure, own in zip(trees, structures, counts, strict=True):
        built = structure.tree(PATIENTS, own).freeze(NOTHING)
        for name in ("column", "threshold", "label", "counts", "has_counts", "has_total"):
            assert np.array_equal(getattr(tree, name), getattr(built, name)), name


def test_a_tree_may_be_a_single_leaf():
    (tree,) = frozen([Structure((None,))], PATIENTS, np.array([3, 8]), NOTHING)
    assert tree.label.tolist() == [1]


def test_sums_beyond_the_limit_of_a_model_are_cut():
    (tree,) = frozen([Structure((None,))], PATIENTS, np.array([2**50, -(2**50)]), NOTHING)
    assert tree.counts.tolist() == [[2**42, -(2**42)]]
