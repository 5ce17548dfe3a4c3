"""Reproduce the experiments of Jagannathan, Pillaipakkamnatt & Wright (2012)."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.common.experiment import Experiment, main
from experiments.jagannathan_2012 import (
    forests,
    forests_report,
    table1,
    table1_report,
    updates,
    vertical,
)

HERE = Path(__file__).parent
_HOME = "experiments.jagannathan_2012"

EXPERIMENTS = (
    Experiment("table1", f"{_HOME}.table1:fold", table1.cells, table1_report.report, chunk=10),
    Experiment("figures1to3", f"{_HOME}.forests:ensemble", forests.cells, forests_report.report, chunk=1),
    Experiment("figure4", f"{_HOME}.updates:ensemble", updates.cells, updates.report, chunk=1),
    Experiment("figure5", f"{_HOME}.vertical:ensemble", vertical.cells, vertical.report, chunk=1),
)

if __name__ == "__main__":
    sys.exit(main(HERE, EXPERIMENTS))
