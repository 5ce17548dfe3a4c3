"""When there are too few records to reconstruct a distribution from."""

from __future__ import annotations

from bocage.local.intervals import RECORDS_PER_INTERVAL


class FewRecords(UserWarning):
    """There are too few records to reconstruct a distribution from."""


def few_records(records: int, intervals: int) -> str:
    """What to say, and to do, about so few records; nothing if there are enough."""
    needed = RECORDS_PER_INTERVAL * intervals
    if records >= needed:
        return ""
    return (
        f"{records} records in {intervals} intervals are too few to reconstruct a distribution: "
        f"{RECORDS_PER_INTERVAL} in each are needed. Collect {needed} records, or ask for fewer "
        "intervals; what is found may follow the noise."
    )
