"""Reproduce the table of accuracy per epsilon: our learners beside the rivals that can be installed."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.common.experiment import Experiment, main
from experiments.frontier import report, table

HERE = Path(__file__).parent
EXPERIMENTS = (
    Experiment(
        "table",
        "experiments.frontier.table:fold",
        table.cells,
        report.report,
        chunk=5,
        more=table.more,
    ),
)

if __name__ == "__main__":
    sys.exit(main(HERE, EXPERIMENTS))
