"""Reproduce the experiments of Friedman & Schuster (2010)."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.common.experiment import Experiment, main
from experiments.friedman_schuster_2010 import adult, larger_trees, nominal_split, numeric_split

HERE = Path(__file__).parent
_HOME = "experiments.friedman_schuster_2010"

EXPERIMENTS = (
    Experiment("table1", f"{_HOME}.nominal_split:nominal", nominal_split.cells, nominal_split.table1),
    Experiment("figure4", f"{_HOME}.numeric_split:numeric", nominal_split.cells, numeric_split.figure4),
    Experiment("figure5", f"{_HOME}.numeric_split:binned", nominal_split.cells, numeric_split.figure5),
    Experiment("figure6", f"{_HOME}.larger_trees:larger", larger_trees.cells, larger_trees.figure),
    Experiment("figure7", f"{_HOME}.larger_trees:larger", larger_trees.cells, larger_trees.figure),
    Experiment("figure8", f"{_HOME}.adult:fold", adult.cells, adult.figure8, chunk=10),
)

if __name__ == "__main__":
    sys.exit(main(HERE, EXPERIMENTS))
