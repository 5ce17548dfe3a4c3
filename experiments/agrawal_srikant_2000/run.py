"""Reproduce the experiments of Agrawal & Srikant (2000)."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.agrawal_srikant_2000 import attacks, figure2, figure5, figure6
from experiments.common.experiment import Experiment, main

HERE = Path(__file__).parent
_HOME = "experiments.agrawal_srikant_2000"

EXPERIMENTS = (
    Experiment("figure2", f"{_HOME}.figure2:once", figure2.cells, figure2.report),
    Experiment("figure5", f"{_HOME}.figure5:once", figure5.cells, figure5.report, chunk=1),
    Experiment("figure6", f"{_HOME}.figure6:once", figure6.cells, figure6.report, chunk=1),
    Experiment("honest", f"{_HOME}.figure6:honest_once", figure6.honest_cells, figure6.honest_report, 1),
    Experiment("attacks", f"{_HOME}.attacks:once", attacks.cells, attacks.report, chunk=1),
)

if __name__ == "__main__":
    sys.exit(main(HERE, EXPERIMENTS))
