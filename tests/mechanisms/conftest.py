"""Enumerates everything that a sampler can do.

A sampler is run on a scripted source. Each random integer it asks for is a choice between equally
likely values; a run that asks for more than the script holds is repeated with every continuation.
The probability of an output is the exact sum over the runs that end in it.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest


class ScriptEnd(Exception):
    def __init__(self, choices):
        self.choices = choices


class Scripted:
    """A source that replays a script of choices."""

    def __init__(self, script, word_bits):
        self.word_bits = word_bits
        self._script = list(script)

    def _choice(self, bound):
        if bound == 1:
            return 0
        if not self._script:
            raise ScriptEnd(bound)
        return self._script.pop(0)

    def words(self, count):
        choices = [self._choice(1 << self.word_bits) for _ in range(count)]
        return np.array(choices, dtype=np.uint64)

    def below(self, bound, count):
        choices = [self._choice(bound) for _ in range(count)]
        return np.array(choices, dtype=np.int64 if bound <= 1 << 63 else object)

    def below_each(self, bounds):
        return np.array([self._choice(bound) for bound in bounds.tolist()], dtype=np.int64)


def _enumerate(sampler, word_bits=4, smallest=Fraction(1, 10**5), source=Scripted):
    """Return {output: probability} and the probability that was left unexplored.

    Paths less likely than `smallest` are not followed further.
    """
    found = defaultdict(Fraction)
    unexplored = Fraction(0)
    open_ = [((), Fraction(1))]
    while open_:
        script, probability = open_.pop()
        try:
            output = sampler(source(script, word_bits))
        except ScriptEnd as more:
            if probability < smallest:
                unexplored += probability
                continue
            each = probability / more.choices
            open_ += [((*script, choice), each) for choice in range(more.choices)]
        else:
            found[output] += probability
    assert sum(found.values()) + unexplored == 1
    return dict(found), unexplored


@pytest.fixture(name="enumerate_outputs")
def _enumerate_outputs():
    return _enumerate


@pytest.fixture(name="scripted")
def _scripted():
    return Scripted
