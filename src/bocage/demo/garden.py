"""The part of the tour that grows trees: three learners, their plans, models and guarantees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bocage.demo.people import make_people
from bocage.demo.screen import chapter, columns, show
from bocage.epsilon import Epsilon
from bocage.learners import DPDF, DiffPC45, DiffPID3, Learner, Plan
from bocage.model import Forest, Released, Tree, rules, to_rich
from bocage.model.export.svg import to_svg
from bocage.private import PrivateTable, ProtectedTable

EPSILON, BUDGET = "0.5", "1.5"
FRESH = 20_000
RANGES = ("sex", "education", "age_group", "work")
LEARNERS: dict[str, Learner] = {
    "DiffPID3-Max": DiffPID3(depth=2, attributes=RANGES),
    "DiffPC4.5": DiffPC45(depth=3, attributes=("age", "sex", "region", "education", "hours")),
    "DPDF": DPDF(trees=3, depth=3, attributes=RANGES),
}


def grow(screen: Console, owner: ProtectedTable, directory: Path) -> None:
    """Train three learners with a small budget each and show what comes out."""
    chapter(
        screen,
        "8  Three learners, three models",
        f"A second analyst, with epsilon {BUDGET}, grows decision trees for {EPSILON} each. The whole "
        "price is charged first. All nodes of a level are asked at once, in one scan.",
    )
    table = owner.analyst("forester", budget=BUDGET)
    models = {name: _grow(screen, table, name) for name in LEARNERS}
    _compare(screen, models)
    best = models["DiffPC4.5"]
    screen.print(Text("\nThe certificate of DiffPC4.5", style="bold"))
    screen.print(Text(_guarantee(best)))
    if isinstance(best, Tree):
        (directory / "tree.svg").write_text(to_svg(best), encoding="utf-8")
    for name, model in models.items():
        model.save(directory / f"{name.lower()}.json")
    screen.print("\nThe tree is drawn in tree.svg, and each model is a JSON file beside it.")


def _grow(screen: Console, table: PrivateTable, name: str) -> Released:
    learner = LEARNERS[name]
    plan = learner.plan(table.schema, EPSILON)
    screen.print()
    screen.print(Text.assemble((name, "bold green"), f", {learner.paper}"))
    show(screen, _plan(plan))
    model = learner.fit(table, EPSILON)
    screen.print()
    if isinstance(model, Forest):
        screen.print(f"{len(model)} trees, {_roots(model)}. The first:")
    screen.print(to_rich(model.trees[0] if isinstance(model, Forest) else model))
    if isinstance(model, Tree):
        show(screen, _best_rules(model))
    return model


def _roots(forest: Forest) -> str:
    asked = [tree.schema.attributes[tree.column[0]].name for tree in forest.trees if len(tree) > 1]
    return f"with the roots {', '.join(asked)}" if asked else "none with a split"


def _plan(plan: Plan) -> Table:
    """The plan level by level; trees of a forest ask the same questions."""
    shown = columns("level", "questions", "epsilon", "share", numbers=(0, 2, 3))
    for level in sorted({step.level for step in plan.steps}):
        steps = [step for step in plan.steps if step.level == level]
        asked = Counter(re.sub(r" of tree \d+$", "", step.question) for step in steps)
        words = [question + (f" × {n} trees" if n > 1 else "") for question, n in asked.items()]
        cost = Epsilon.total([step.epsilon for step in steps])
        share = f"{100 * cost.nano / plan.budget.nano:.0f} %"
        shown.add_row(str(level), ", ".join(words), f"{float(cost):.3f}", share)
    shown.add_row("", "along a path, exactly", str(plan.budget), "100 %", style="bold")
    return shown


def _best_rules(model: Tree) -> Table:
    shown = columns("rules with the most people", "label", "sure", "people", numbers=(2, 3))
    for rule in rules(model, sub_rules=False).sorted("support").items[:4]:
        confidence = "–" if rule.confidence is None else f"{rule.confidence:.0%}"
        shown.add_row(Text(rule.text), rule.label, confidence, f"{rule.support or 0:,}")
    return shown


def _compare(screen: Console, models: Mapping[str, Released]) -> None:
    fresh = make_people(FRESH, seed=8)
    most = max(np.mean(fresh["ill"] == label) for label in ("no", "yes"))
    shown = columns("model", "leaves", f"right on {FRESH:,} others", "epsilon", numbers=(1, 2, 3))
    for name, model in models.items():
        trees = model.trees if isinstance(model, Forest) else (model,)
        right = float(np.mean(model.predict(fresh) == fresh["ill"]))
        leaves = sum(len(tree.leaves) for tree in trees if isinstance(tree, Tree))
        shown.add_row(name, str(leaves), Text(f"{right:.1%}", style="bold green"), EPSILON)
    shown.add_row("the frequent label", "", f"{most:.1%}", "", style="dim")
    screen.print()
    screen.print("How good are they on made-up people whom no learner has seen?")
    show(screen, shown)


def _guarantee(model: Released) -> str:
    """The certificate without its list of questions, which stands above."""
    lines = model.certificate.statement().splitlines()
    return "\n".join(line for line in lines if not line.startswith(("  level", "The costs of")))
