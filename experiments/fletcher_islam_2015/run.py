"""Reproduce the experiments of Fletcher & Islam (2015)."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.common.experiment import Experiment, main
from experiments.fletcher_islam_2015 import accuracy, arithmetic, figures

HERE = Path(__file__).parent
_HOME = "experiments.fletcher_islam_2015"

EXPERIMENTS = (
    Experiment("table1", f"{_HOME}.arithmetic:shares", arithmetic.cells, arithmetic.table1),
    Experiment("figures", f"{_HOME}.accuracy:fold", accuracy.cells, figures.report, chunk=10),
)

if __name__ == "__main__":
    sys.exit(main(HERE, EXPERIMENTS))
