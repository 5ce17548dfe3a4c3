"""The map: accuracy against epsilon against rows, before any budget is spent.

Everything here is made up or public. No module of this package opens a table that has a ledger.
"""

from bocage.frontier.benchmark import Candidate, Grid, benchmark, candidates
from bocage.frontier.chart import Chart, Place
from bocage.frontier.generators import GENERATORS, Rows, generate
from bocage.frontier.plot import plot_chart

__all__ = [
    "GENERATORS",
    "Candidate",
    "Chart",
    "Grid",
    "Place",
    "Rows",
    "benchmark",
    "candidates",
    "generate",
    "plot_chart",
]
