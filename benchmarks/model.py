"""Seconds to predict one million rows with a full tree of depth 10, in codes and in raw values."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bocage.model import Certificate, PlanLine, Tree, TreeBuilder
from bocage.schema import Categorical, Numeric, Schema

ROWS = 1_000_000
DEPTH = 10
LIMIT = 1.0  # seconds


def full_tree() -> Tree:
    """Every node split at a random place: by ten numeric columns, and at the top by a categorical."""
    rng = np.random.default_rng(1)
    numeric = tuple(Numeric(f"n{i}", 0, 1, cells=1024) for i in range(10))
    categorical = tuple(Categorical(f"c{i}", ("a", "b", "c", "d")) for i in range(2))
    schema = Schema("bench", (*numeric, *categorical), Categorical("label", ("no", "yes")))
    builder = TreeBuilder(schema)
    level = builder.split(builder.root, "c0")
    for _ in range(DEPTH - 1):
        level = [
            child for node in level for child in builder.split(node, f"n{rng.integers(10)}", int(rng.integers(1, 1024)))
        ]
    for leaf in level:
        builder.counts(leaf, rng.integers(0, 99, 2).tolist())
    plan = (PlanLine(0, "all", "none: made up for timing", "1"),)
    made = Certificate("benchmark", "-", "1", "add or remove one row", "bench", schema.fingerprint, plan)
    return builder.freeze(made)


def best_of(times: int, action: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def run() -> list[dict[str, Any]]:
    """Seconds against the limit of one second, and against scikit-learn where it is installed."""
    tree = full_tree()
    rng = np.random.default_rng(2)
    codes = {c.name: rng.integers(0, c.cells, ROWS).astype(np.uint16) for c in tree.schema.attributes}
    raw = {
        c.name: (codes[c.name] + 0.5) / c.cells if isinstance(c, Numeric) else np.array(c.values, object)[codes[c.name]]
        for c in tree.schema.attributes
    }
    labels = np.array(tree.label_attribute.values, object)
    assert np.array_equal(tree.predict(raw), labels[tree.predict_codes(codes)])
    from_codes = best_of(5, lambda: tree.predict_codes(codes))
    from_raw = best_of(5, lambda: tree.predict(raw))
    rows = [
        _row("predict 1 million rows, depth 10, from codes (s)", from_codes, LIMIT, ">= 1"),
        _row("predict 1 million rows, depth 10, from raw values (s)", from_raw, LIMIT, ">= 1"),
    ]
    peer = _peer(rng)
    if peer is not None:  # its rows need no encoding
        rows.append(_row("predict from codes / scikit-learn", from_codes, peer, ">= 1"))
    return rows


def _row(name: str, ours: float, peer: float, target: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer / ours, "target": target}


def _peer(rng: np.random.Generator) -> float | None:
    """scikit-learn's tree of the same depth on twelve numeric columns, if it is installed."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        return None
    x = rng.random((ROWS, 12))
    y = rng.integers(0, 2, 20_000)
    model = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(x[:20_000], y)
    return best_of(5, lambda: model.predict(x))


if __name__ == "__main__":
    for row in run():
        print(row)
