"""Trees that come from outside: each row must reach exactly one leaf, whatever a file says."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bocage.errors import PartyError
from bocage.learners.base import label_of
from bocage.learners.papers.structure import Structure
from bocage.model import MOST_DEPTH
from bocage.schema import Categorical, Schema

MOST_COUNTS = 2**21  # of one contribution; a rule chooses a million at most
MOST_TREES = 2**10


def check_trees(trees: Sequence[Structure], attributes: Collection[str], schema: Schema) -> None:
    """Refuse trees that a contribution could not count, or that split by what is not there."""
    if not 1 <= len(trees) <= MOST_TREES:
        raise PartyError(f"a share has 1 to {MOST_TREES} trees, not {len(trees)}.")
    known = {attribute.name for attribute in schema.attributes}
    for name in attributes:
        if name not in known:
            raise PartyError(f"the schema has no attribute {name!r}.")
    for tree in trees:
        _check_tree(tree, frozenset(attributes), schema)
    counts = sum(tree.splits.count(None) for tree in trees) * label_of(schema).cells
    if counts > MOST_COUNTS:
        raise PartyError(f"a contribution has at most {MOST_COUNTS} counts, not {counts}.")


def _check_tree(tree: Structure, own: frozenset[str], schema: Schema) -> None:
    """Refuse splits that are no tree: each row must reach exactly one leaf."""
    depth = [0]
    for node, split in enumerate(tree.splits):
        if node >= len(depth):
            raise PartyError("the nodes of a tree do not match the numbers of their children.")
        if split is None:
            continue
        column, threshold = split
        if column not in own:
            raise PartyError(f"a tree splits by {column!r}, which is not its owner's.")
        cells = schema[column].cells
        if (threshold is None) != isinstance(schema[column], Categorical) or not (
            threshold is None or 0 < threshold < cells
        ):
            raise PartyError(f"a tree splits {column!r} in a way that its values do not allow.")
        depth += [depth[node] + 1] * (cells if threshold is None else 2)
        if depth[-1] > MOST_DEPTH:
            raise PartyError(f"a tree is at most {MOST_DEPTH} levels deep.")
        if len(depth) > len(tree.splits):
            break
    if len(depth) != len(tree.splits):
        raise PartyError("the nodes of a tree do not match the numbers of their children.")
