"""Private ID3 as section 4 writes it, with the leaf "Failure" of Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocage.learners import PrivateID3
from bocage.model import Tree
from bocage.private import IntArray
from bocage.schema import Schema


@dataclass(frozen=True)
class LiteralID3(PrivateID3):
    """The learner of the package without its improvements.

    Nothing is asked again at a leaf that a path reaches early, and `threshold` says what "empty" and
    "one class only" mean on noisy counts: up to so many standard deviations of the noise. The paper
    does not say; 0 is the literal reading.

    Privacy
    -------
    As PrivateID3; a path that ends early spends less.
    """

    name: ClassVar[str] = "literal_id3"
    spends_rest: ClassVar[bool] = False
    threshold: float = 0.0

    def _settled(self, total: int, counts: IntArray, noise: float) -> bool:
        least = self.threshold * noise
        return bool(total <= least or np.sort(counts)[-2] <= least)

    def failures(self, tree: Tree) -> np.ndarray:
        """Which nodes are leaves with the value Failure."""
        least = self.threshold * np.sqrt(2) / _per_query(tree)
        failed: np.ndarray = tree.is_leaf & (tree.total <= least)
        return failed


def _per_query(tree: Tree) -> float:
    return float(tree.certificate.plan[-1].epsilon)


def asked(schema: Schema) -> int:
    """Queries along a path: what is really asked."""
    return sum(step.queries for step in PrivateID3().plan(schema, 1).steps)


def counted(schema: Schema) -> int:
    """Queries along a path as Table 1 counts them: one per attribute that is left, per level."""
    k = len(schema.attributes)
    return k * (k + 1) // 2


def true_epsilon(schema: Schema, stated: float) -> str:
    """What it costs to answer every query with the share that the paper gives it."""
    return f"{stated * asked(schema) / counted(schema):.9f}"
