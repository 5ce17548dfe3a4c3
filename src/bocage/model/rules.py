"""Rules and sub-rules: what a model says in sentences (Fletcher and Islam 2015, section 3.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bocage.errors import ModelError
from bocage.model.additive.model import UNIT, AdditiveModel
from bocage.model.base import Model
from bocage.model.tree.forest import Forest
from bocage.model.tree.paths import condition, in_words, path, predicate
from bocage.model.tree.tree import Tree, proportions
from bocage.plan import to_text
from bocage.plan.predicate import And

if TYPE_CHECKING:
    from rich.table import Table

Order = Literal["confidence", "support", "depth", "label", "text"]


@dataclass(frozen=True)
class Rule:
    """One way from the root to a leaf, or to an inner node whose counts were released.

    Parameters
    ----------
    tree, node
        Where it comes from.
    text
        The conditions in words.
    where
        The conditions as a filter, in the form that `PrivateTable.where` reads.
    label
        The label predicted.
    confidence
        The share of the largest released count, negative ones taken as 0; None without counts.
    support
        The sum of the released counts, negative ones taken as 0, or else the released total; None
        if neither was released.
    depth
        Number of tests.
    leaf
        False for a sub-rule.
    """

    tree: int
    node: int
    text: str
    where: str
    label: str
    confidence: float | None
    support: int | None
    depth: int
    leaf: bool

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Rules:
    """Rules in some order."""

    items: tuple[Rule, ...]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> Rule:
        return self.items[position]

    def sorted(self, by: Order, *, descending: bool | None = None) -> Rules:
        """In another order; numbers from high to low unless told otherwise, unknown ones last."""
        if by not in ("confidence", "support", "depth", "label", "text"):
            raise ModelError(f"rules are sorted by confidence, support, depth, label or text: {by!r}.")
        down = by in ("confidence", "support") if descending is None else descending
        counted = [rule for rule in self if getattr(rule, by) is not None]
        uncounted = [rule for rule in self if getattr(rule, by) is None]
        counted.sort(key=lambda rule: getattr(rule, by), reverse=down)
        return Rules((*counted, *uncounted))

    def filtered(
        self,
        *,
        label: str | None = None,
        min_support: float = 0,
        min_confidence: float = 0,
        text: str = "",
        leaves_only: bool = False,
    ) -> Rules:
        """Rules for a label, with enough support and confidence, that mention a text."""
        chosen = [
            rule
            for rule in self
            if (label is None or rule.label == label)
            and (min_support <= 0 or (rule.support or 0) >= min_support)
            and (min_confidence <= 0 or (rule.confidence or 0) >= min_confidence)
            and text.lower() in rule.text.lower()
            and (rule.leaf or not leaves_only)
        ]
        return Rules(tuple(chosen))

    def to_json(self) -> str:
        """A JSON list of objects."""
        return json.dumps([rule.to_dict() for rule in self], indent=1, ensure_ascii=False)

    def __rich__(self) -> Table:
        """A table for the terminal."""
        from rich.table import Table  # noqa: PLC0415 - importing a model loads no terminal
        from rich.text import Text  # noqa: PLC0415 - likewise

        table = Table("rule", "label")
        for heading in ("confidence", "support", "depth"):
            table.add_column(heading, justify="right")
        table.add_column("kind")
        for rule in self:
            table.add_row(
                Text(rule.text),  # names and values are no markup
                Text(rule.label),
                "" if rule.confidence is None else f"{rule.confidence:.1%}",
                "" if rule.support is None else f"{rule.support:,}",
                str(rule.depth),
                "rule" if rule.leaf else "sub-rule",
            )
        return table


def rules(model: Model, *, sub_rules: bool = True) -> Rules:
    """All rules of a model, and all sub-rules whose counts were released.

    Each cell of each table of an additive model is a rule for the label that it raises most.
    """
    if isinstance(model, Forest):
        trees = model.trees
    elif isinstance(model, Tree):
        trees = (model,)
    elif isinstance(model, AdditiveModel):
        return Rules(tuple(_additive_rules(model)))
    else:
        raise ModelError(f"a {type(model).__name__} has no rules.")
    every = [rule for at, tree in enumerate(trees) for rule in _tree_rules(tree, at, sub_rules)]
    return Rules(tuple(every))


def _tree_rules(tree: Tree, at: int, sub_rules: bool) -> Iterator[Rule]:
    clamped = np.maximum(tree.counts, 0)
    shares, _ = proportions(clamped)
    for node in range(len(tree)):
        leaf, counted = bool(tree.is_leaf[node]), bool(tree.has_counts[node])
        if not leaf and not (counted and sub_rules):
            continue
        support = int(clamped[node].sum()) if counted else None
        if support is None and tree.has_total[node]:
            support = max(int(tree.total[node]), 0)
        steps = path(tree, node).items()
        words = [in_words(tree.schema[name], codes) for name, codes in steps]
        yield Rule(
            tree=at,
            node=node,
            text=" and ".join(words) or "all rows",
            where=to_text(predicate(tree, node)),
            label=tree.label_attribute.values[int(tree.label[node])],
            confidence=float(shares[node].max()) if counted else None,
            support=support,
            depth=int(tree.depth[node]),
            leaf=leaf,
        )


def _additive_rules(model: AdditiveModel) -> Iterator[Rule]:
    """Each cell of each term as a rule that speaks for the label it raises most.

    Its strength is what it adds: there are no counts, hence neither support nor confidence.
    """
    values = model.label_attribute.values
    for at, term in enumerate(model.terms):
        for cell, scores in enumerate(term.scores):
            accepted = term.accepted(model.schema, cell)
            words = " and ".join(in_words(column, codes) for column, codes in accepted)
            tests = [test for column, codes in accepted for test in condition(column, codes)]
            raised = float(np.ptp(np.sort(scores)[-2:])) / UNIT
            yield Rule(
                tree=at,
                node=cell,
                text=f"{words} ({raised:+.2f})",
                where=to_text(tests[0] if len(tests) == 1 else And(tuple(tests))),
                label=values[int(scores.argmax())],
                confidence=None,
                support=None,
                depth=len(term.columns),
                leaf=True,
            )
