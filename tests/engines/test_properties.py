"""Every engine gives the reference's numbers on whatever Hypothesis thinks of."""

from __future__ import annotations

import pytest
from cases import Case, assert_equals_reference, cases
from hypothesis import HealthCheck, given, settings
from makers_local import numpy


@pytest.mark.slow
def test_every_tally_equals_the_reference(maker, request):
    if maker is numpy:
        pytest.skip("the reference itself: tests/engine/test_reference.py counts by hand")
    # Tables are small but nested deep; generating them is what takes the time.
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]

    @settings(max_examples=getattr(maker, "examples", 60), deadline=None, suppress_health_check=slow)
    @given(cases())
    def check(case: Case) -> None:
        with maker(case.columns, case.schema, request) as engine:
            assert_equals_reference(case, engine)

    check()
