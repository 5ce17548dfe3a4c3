"""How the command line shows plans and contributions."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

from bocage.errors import ModelError, PartyError
from bocage.parties import Contribution, PartyPlan


def show_file(path: Path) -> bool:
    """Show a plan, a contribution or a model; False for a contribution that nobody signed."""
    from bocage.model import load
    from bocage.parties import documents

    content = documents.read(path)
    if content.startswith(b"PAR1"):
        return show_contribution(Contribution.load(path))
    with documents.about(path):
        kind = documents.parse(content).get("format")
    if kind == "bocage.contribution":
        return show_contribution(Contribution.load(path))
    if kind == "bocage.plan":
        show_plan(PartyPlan.load(path))
        return True
    try:
        model = load(path)
    except ModelError as error:
        raise PartyError(f"{path} is no plan, no contribution and no model: {error}") from None
    _print(_text(model.certificate.statement()))
    return True


def show_plan(plan: PartyPlan) -> None:
    """The facts of a plan, and a line for every share."""
    from rich.table import Table

    kind = "columns of the same persons" if plan.vertical else "different persons"
    facts = {
        "plan": plan.hash,
        "table": plan.schema.name,
        "label": plan.schema.label.name if plan.schema.label else "",
        "owners hold": kind,
        "a person pays": f"epsilon {plan.epsilon}",
        "neighbors": plan.adjacency.value,
    }
    _print(_facts(facts))
    table = Table("who", "columns", title_justify="left")
    for name in ("epsilon", "trees", "leaves", "counts", "noise ±"):
        table.add_column(name, justify="right")
    for share in plan.shares:
        labels = plan.schema.label.cells if plan.schema.label else 0
        table.add_row(
            _text(share.party or "every owner"),
            _text(", ".join(share.attributes)),
            str(share.epsilon),
            str(len(share.trees)),
            f"{sum(share.leaves):,}",
            f"{sum(share.leaves) * labels:,}",
            f"{sqrt(2) * float(plan.scale(share)):.1f}",
        )
    _print(table)


def show_contribution(contribution: Contribution) -> bool:
    """The header of a contribution; whether its signature is good."""
    authentic = contribution.is_authentic()
    entry = "none: a study" if contribution.entry is None else str(contribution.entry)
    facts = {
        "contribution of": contribution.party,
        "to plan": contribution.plan,
        "schema": contribution.schema,
        "epsilon": contribution.epsilon,
        "ledger entry": entry,
        "trees": str(len(contribution.shapes)),
        "noisy counts": f"{contribution.values.size:,}",
        "public key": contribution.key,
        "signature": "good" if authentic else "FORGED: this key did not sign it",
    }
    _print(_facts(facts))
    return authentic


def _facts(facts: dict[str, str]) -> Any:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        style = "bold red" if value.startswith("FORGED") else ""
        grid.add_row(name, _text(value, style))
    return grid


def _text(value: str, style: str = "") -> Any:
    from rich.text import Text  # a name may look like markup

    return Text(value, style=style)


def _print(what: Any) -> None:
    from rich.console import Console

    Console(highlight=False).print(what)
