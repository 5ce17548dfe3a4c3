"""The algorithms of the paper by name: as the paper ran them, and as they should be run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bocage.epsilon import Epsilon
from bocage.learners import DPDF, DiffPID3, Learner, Plan, Progress
from bocage.learners.base import label_of, quiet
from bocage.learners.frontier import Frontier
from bocage.learners.papers.diffp_id3 import SPLIT
from bocage.model import Forest
from bocage.private import EpsilonLike, LocalGini, PrivateTable, Split

BY_COUNTS = "DPDF τ=4, votes by counts"


@dataclass(frozen=True)
class DiffPID3AsRun(DiffPID3):
    """DiffPID3 with the normalized Gini index and its global sensitivity 0.5, as section 5 runs it.

    Friedman & Schuster score the impurity mass with sensitivity 2, which is the normalized index with
    sensitivity 2/n. The formula 2n/(n+1)² of Fletcher & Islam is 0.5 at n = 1.

    Privacy
    -------
    Sound: the sensitivity is that of the smallest table, whatever the size of the node.
    """

    def choose(self, inner: Frontier, depth: int, plan: Plan) -> list[Split]:
        schema = inner.cells.schema
        query = LocalGini.of(
            [node.candidates(schema) for node in inner.open],
            label_of(schema).name,
            [1] * len(inner.open),
            plan.share(depth, SPLIT),
        )
        return inner.cells.ask(query)


@dataclass(frozen=True)
class DPDFAsPrinted(DPDF):
    """DPDF with the paper's sensitivity; what a path that ends early has left stays unspent.

    Privacy
    -------
    None: see DPDF.
    """

    spends_rest: ClassVar[bool] = False


@dataclass(frozen=True)
class DPDFByCounts(DPDFAsPrinted):
    """The same forest whose trees add up their counts: shows what the rule of voting is worth."""

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Forest:
        forest = super().fit(table, epsilon, progress)
        return Forest(forest.trees, "counts", forest.certificate)


def learner(name: str, depth: int) -> Learner:
    """A private learner with `depth` levels of nodes (delta), the leaves included.

    DiffPID3 of Table 1 has 2δ queries, which are δ - 1 levels of splits: trees as high as DPDF's.
    """
    splits = depth - 1
    learners: dict[str, Learner] = {
        "DiffPID3 as run": DiffPID3AsRun(splits, "gini", "exponential", printed=True),
        "DiffPID3-Gini": DiffPID3(splits, "gini", "exponential", printed=True),
        "DiffPID3-Max": DiffPID3(splits, "max", "exponential", printed=True),
        "DiffPID3-Max (ours)": DiffPID3(splits),
        "DPDF τ=1": DPDFAsPrinted(1, depth, sensitivity="local"),
        "DPDF τ=4": DPDFAsPrinted(4, depth, sensitivity="local"),
        "DPDF τ=1, d≤δ": DPDFAsPrinted(1, depth + 1, sensitivity="local"),
        BY_COUNTS: DPDFByCounts(4, depth, sensitivity="local"),
        "DPDF τ=1 (sound)": DPDF(1, depth),
        "DPDF τ=4 (sound)": DPDF(4, depth),
    }
    return learners[name]


def spent(name: str, depth: int, budget: float) -> Epsilon:
    """What a budget really costs: more than itself where a node is split at depth δ as well.

    Every query is paid β/(τ(2δ-1)) and there are 2δ-1 of them with the test d < δ. Algorithm 1 tests
    d ≤ δ, asks 2δ+1 of them, and pays the same for each.
    """
    whole = Epsilon.of(str(budget))
    if not name.endswith("d≤δ"):
        return whole
    return Epsilon(round(whole.nano * (2 * depth + 1) / (2 * depth - 1)))
