"""A comparison with a threshold is right for every double."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bocage.model.export.thresholds import threshold
from bocage.schema import Numeric


@given(
    column=st.sampled_from(
        [
            Numeric("x", 0, 100, step=1),
            Numeric("x", -1, 2, step=Fraction(1, 3)),
            Numeric("x", Fraction(1, 10), Fraction(7, 10), cells=7),
            Numeric("x", -(10**15), 10**15, cells=1024),
            Numeric("x", 0, Fraction(1, 10**100), cells=3),
        ]
    ),
    data=st.data(),
)
def test_a_threshold_is_the_first_double_of_its_code(column, data):
    code = data.draw(st.integers(1, column.cells - 1))
    first = threshold(column, code)
    assert column.cell_of(first) >= code
    assert column.cell_of(math.nextafter(first, -math.inf)) < code
