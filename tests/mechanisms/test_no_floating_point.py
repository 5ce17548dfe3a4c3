"""No draw depends on floating point: the samplers are read, and then watched."""

from __future__ import annotations

import ast
import inspect
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from bocage.mechanisms import Contest
from bocage.mechanisms.bernoulli import bernoulli_exp
from bocage.mechanisms.laplace import draw_laplace
from bocage.mechanisms.randomized_response import randomize_response
from bocage.mechanisms.rng import RandomBits
from bocage.mechanisms.selection import rejection_sampling
from bocage.mechanisms.selection.exponential import select_exponential
from bocage.mechanisms.selection.permute_and_flip import select_permute_and_flip

SAMPLERS = [
    "rng",
    "bounds",
    "finite_distribution",
    "selection.contests",
    "bernoulli",
    "laplace",
    "selection.exponential",
    "selection.permute_and_flip",
    "randomized_response",
    "exponential_variables",
    "knorm",
    "consistent_noise",
    "body_points",
    "selection.acceptance",
    "system",
    "local_tables",
]
FLOATING = {"float", "math", "cmath", "decimal", "random", "exp", "log", "sqrt", "log1p", "expm1"}


def floating_point(source):
    """Return the parts of a program that compute, or may compute, in floating point."""
    found = []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):  # the type of an argument computes nothing
            for argument in node.args.args:
                argument.annotation = None
    for node in ast.walk(tree):
        constant = isinstance(node, ast.Constant) and isinstance(node.value, float | complex)
        division = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
        words = {getattr(node, field, None) for field in ("id", "attr", "module", "name")}
        named = any(w in FLOATING or str(w).startswith("float") for w in words if w)
        if constant or division or named:
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_are_written_without_floating_point(name):
    module = import_module(f"bocage.mechanisms.{name}")
    assert floating_point(inspect.getsource(module)) == []


def test_a_walk_looks_at_floats_in_one_place_only():
    proposal = inspect.getsource(rejection_sampling._integer_weights)
    assert floating_point(proposal)
    assert floating_point(inspect.getsource(rejection_sampling).replace(proposal, "")) == []


@pytest.mark.parametrize(
    "program",
    ["x = 0.5", "y = a / b", "z /= 2", "import math", "np.exp(x)", "x.astype(np.float64)"],
)
def test_the_reader_recognizes_floating_point(program):
    assert floating_point(program)


class Integers(np.ndarray):
    """Integers that object to becoming floating-point numbers, and so do their descendants."""

    def __array_finalize__(self, parent):
        assert self.dtype.kind in "iubO", f"turned into {self.dtype}"


class Watched(RandomBits):
    def words(self, count):
        return super().words(count).view(Integers)


CONTEST = Contest(np.array([3, 1, 0]).view(Integers), Fraction(1, 2))
DRAWS = {
    "laplace": lambda source: draw_laplace(Fraction(1000), 1000, source),
    "wide laplace": lambda source: draw_laplace(Fraction(2**70), 10, source),
    "bernoulli": lambda source: bernoulli_exp(np.arange(100).view(Integers), 7, source),
    "exponential": lambda source: select_exponential([CONTEST] * 100, source),
    "permute and flip": lambda source: select_permute_and_flip([CONTEST] * 100, source),
    "response": lambda source: randomize_response(np.arange(9).view(Integers), 9, Fraction(1), source),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_no_array_of_a_draw_turns_into_floating_point(draw):
    assert draw(Watched()).dtype.kind in "ibO"


def test_the_watch_notices_what_numpy_does_to_mixed_integers():
    words = Watched().words(3)
    with pytest.raises(AssertionError, match="float64"):
        words + np.arange(3)
