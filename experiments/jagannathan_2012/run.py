"""Reproduce the experiments of Jagannathan, Pillaipakkamnatt & Wright (2012)."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.common.experiment import Experiment, main
from experiments.jagannathan_2012 import table1, table1_report

HERE = Path(__file__).parent
_HOME = "experiments.jagannathan_2012"

EXPERIMENTS = (
    Experiment("table1", f"{_HOME}.table1:fold", table1.cells, table1_report.report, chunk=10),
)

if __name__ == "__main__":
    sys.exit(main(HERE, EXPERIMENTS))
