"""What a worker loads at its start is set aside until its end."""

from __future__ import annotations

import gc

from bocage.service.core.service import Service


def test_what_was_loaded_at_the_start_is_not_searched_for_garbage(made):
    service = Service(made.opened(warm_up="true")).start()
    try:
        assert gc.get_freeze_count() > 10_000  # modules and compiled loops, not a handful
    finally:
        service.close()
    assert gc.get_freeze_count() == 0
