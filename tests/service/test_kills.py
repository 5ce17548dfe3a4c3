"""Workers die at random under load: no answer without its charge, no charge made twice."""

from __future__ import annotations

import pytest
from running import Made
from storm import check, storm


@pytest.mark.slow
def test_killed_workers_release_nothing_unpaid_and_lock_nobody_out(tmp_path):
    made = Made(tmp_path / "owner", cap="100000")
    after = storm(made, requests=400, clients=16, kills_at_least=2, most_kills=4)
    found = check(made, after)
    assert found["kills"] >= 2
    assert found["answers"] > 200
    # What did not end well is a job whose worker died, and nothing else.
    assert sum(sum(seen.errors.values()) for seen in after.seen) == found["lost jobs"]
