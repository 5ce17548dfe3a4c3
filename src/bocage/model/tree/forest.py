"""A released decision forest: trees that vote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.model.base import Codes, Model
from bocage.model.certificate.certificate import Certificate
from bocage.model.tree.routing import MUCH, Steps, route
from bocage.model.tree.tree import Tree, proportions
from bocage.schema import Schema

Voting = Literal["counts", "confidence", "majority"]
Votes = NDArray[np.int64] | NDArray[np.float64]
MOST_TREES = 2**10


@dataclass(frozen=True, eq=False)
class Forest(Model):
    """Trees over one schema that decide together.

    Parameters
    ----------
    trees
        At least one.
    voting
        ``"counts"``: the released counts of the nodes reached are added up, as they are.
        ``"confidence"``: every tree votes for its decision with the share of the largest count of
        the node reached, negative counts taken as 0 (Fletcher and Islam 2015, section 3).
        ``"majority"``: one vote each. Of several labels with as many votes the first one wins.
    certificate
        What was guaranteed for all trees together.
    """

    trees: tuple[Tree, ...]
    voting: Voting
    certificate: Certificate

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        if not 1 <= len(self.trees) <= MOST_TREES:
            raise ModelError(f"a forest has 1 to {MOST_TREES} trees, not {len(self.trees)}.")
        if self.voting not in get_args(Voting):
            raise ModelError(f"trees vote by {', '.join(get_args(Voting))}, not {self.voting!r}.")
        if len({self.certificate.schema, *(tree.schema.fingerprint for tree in self.trees)}) > 1:
            raise ModelError("the trees and the certificate of a forest have different schemas.")
        if self.voting == "counts":
            for number, tree in enumerate(self.trees):
                if not tree.has_counts[tree.is_leaf].all():
                    raise ModelError(f"tree {number} has leaves without counts, so it cannot vote by counts.")

    def __reduce__(self) -> Any:
        return type(self), (self.trees, self.voting, self.certificate)

    def __len__(self) -> int:
        """Number of trees."""
        return len(self.trees)

    @property
    def schema(self) -> Schema:  # type: ignore[override] # the trees' own, kept once
        return self.trees[0].schema

    @cached_property
    def columns(self) -> tuple[str, ...]:
        used = {name for tree in self.trees for name in tree.columns}
        return tuple(column.name for column in self.schema.attributes if column.name in used)

    @cached_property
    def votes(self) -> tuple[Votes, ...]:
        """For every tree: the votes of each node for each label."""
        return tuple(votes_of(tree, self.voting) for tree in self.trees)

    def predict_codes(self, codes: Codes) -> NDArray[np.int32]:
        return cast("NDArray[np.int32]", self._sums(codes).argmax(axis=1).astype(np.int32))

    def predict_proba_codes(self, codes: Codes) -> NDArray[np.float64]:
        sums = self._sums(codes)
        shares, voted = proportions(np.maximum(sums, 0))
        lost = np.flatnonzero(~voted)
        shares[lost, sums[lost].argmax(axis=1)] = 1.0
        return shares

    def _sums(self, codes: Codes) -> Votes:
        """Votes for each label, added from the first tree to the last."""
        matrix, rows = self._matrix(codes)
        much = rows * sum(tree.depth_ for tree in self.trees) >= MUCH
        whole: Votes | None = None
        for steps, votes in zip(self._steps, self.votes, strict=True):
            cast_ = votes[route(steps, matrix, much=much)]
            whole = cast_ if whole is None else whole + cast_
        assert whole is not None  # noqa: S101 - there is at least one tree
        return whole

    @cached_property
    def _steps(self) -> tuple[Steps, ...]:
        return tuple(tree.steps(self.columns) for tree in self.trees)


def votes_of(tree: Tree, voting: Voting) -> Votes:
    """The votes of each node for each label."""
    if voting == "counts":
        return counts_below(tree)
    nodes = np.arange(len(tree))
    if voting == "majority":
        votes = np.zeros(tree.counts.shape, np.int64)
        votes[nodes, tree.label] = 1
        return votes
    weights = np.zeros(tree.counts.shape, np.float64)
    weights[nodes, tree.label] = confidence(tree)
    return weights


def counts_below(tree: Tree) -> NDArray[np.int64]:
    """The released counts of each node; where there are none, the sum of its children's."""
    counts = tree.counts.copy()
    for depth in range(tree.depth_, 0, -1):  # a level lies together, in the order of its parents
        level = np.flatnonzero(tree.depth == depth)
        above = np.flatnonzero((tree.depth == depth - 1) & ~tree.is_leaf)
        sums = np.add.reduceat(counts[level], tree.first_child[above] - level[0], axis=0)
        bare = ~tree.has_counts[above]
        counts[above[bare]] += sums[bare]
    return counts


def confidence(tree: Tree) -> NDArray[np.float64]:
    """For each node the share of its largest count.

    1 where no counts were released at or below it, 0 where none of them is positive.
    """
    clamped = np.maximum(counts_below(tree), 0)
    shares, _ = proportions(clamped)
    counted = tree.has_counts.copy()
    for node in range(len(tree) - 1, 0, -1):
        counted[tree.parent[node]] |= counted[node]
    return np.where(counted, shares.max(axis=1), 1.0)
