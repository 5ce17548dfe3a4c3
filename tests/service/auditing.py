"""Estimate a privacy loss from outside: ask two neighboring tables the same, and compare.

If an answer has a property with probability p on one table and q on the other, epsilon is at least
log(p / q). From samples, p is taken at its lower and q at its upper confidence bound (Clopper and
Pearson), each with probability ALPHA / 2 of being wrong: what is returned exceeds the true loss
with probability ALPHA at most.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf, log

import pyarrow as pa
import pyarrow.parquet as pq
from running import Made
from scipy.stats import beta

from bocage.learners import RandomTrees

ALPHA = 1e-9
CLIENTS = 8
SCHEMA = """
name = "NAME"
row_cap = 100
target = { name = "label", values = ["no", "yes"] }
attributes = [
    { name = "a", type = "categorical", values = ["u", "v"] },
    { name = "b", type = "categorical", values = ["u", "v"] },
]
"""
# One record more: splitting by a gets better by one (criterion max), splitting by b does not.
WITHOUT = {"a": ["u"], "b": ["u"], "label": ["yes"]}
WITH = {"a": ["u", "v"], "b": ["u", "u"], "label": ["yes", "no"]}


class Neighbors(Made):
    """A home with two neighboring tables, `with` and `without`, and budget in plenty."""

    def __init__(self, path):
        super().__init__(path)
        with self.owner() as owner:
            for name, rows in (("with", WITH), ("without", WITHOUT)):
                file, schema = path / f"{name}.parquet", path / f"{name}.toml"
                pq.write_table(pa.table(rows), file)
                schema.write_text(SCHEMA.replace("NAME", name), encoding="utf-8")
                owner.add_table(name, str(file), schema, "1000000")
            self.keys["eve"] = owner.registry.add_analyst("eve")
            for name in ("with", "without"):
                owner.grant("eve", name, "1000000")


def count(table, epsilon):
    """Whether a count is that of the larger table or above: two records."""
    return table.noisy_count(epsilon, fresh=True).value >= 2


def choice(table, epsilon):
    """Whether the split that the record makes better is chosen."""
    return table.choose(["a", "b"], "max", epsilon, fresh=True).value == "a"


def learned(table, epsilon):
    """Whether a tree of one split by a has the record in its leaf, by the released count."""
    forest = RandomTrees(trees=1, height=1, rows=2, attributes=("a",)).fit(table, epsilon, ignore)
    (tree,) = forest.trees
    return tree.counts[tree.first_child[0] + 1][0] >= 1  # a = v, label = no


def ignore(done, of):
    """No bar."""


class Audit:
    """Samples of one property on both tables, and the loss that they prove."""

    def __init__(self, connection, ask, epsilon):
        self._tables = connection["with"], connection["without"]
        self._ask, self._epsilon = ask, epsilon
        self._hits, self.samples = [0, 0], 0

    def more(self, samples):
        """Ask until there are `samples` of each table."""
        new = samples - self.samples
        with ThreadPoolExecutor(CLIENTS) as pool:
            for at, table in enumerate(self._tables):
                asked = pool.map(lambda _, t=table: self._ask(t, self._epsilon), range(new))
                self._hits[at] += sum(asked)
        self.samples = samples
        return self

    @property
    def loss(self):
        """A lower bound of epsilon, from the property and from its opposite."""
        n, (one, other) = self.samples, self._hits
        return max(proven(one, other, n), proven(n - other, n - one, n))


def proven(hits, others, n):
    low = beta.ppf(ALPHA / 4, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(1 - ALPHA / 4, others + 1, n - others) if others < n else 1.0
    return log(low / high) if low else -inf
