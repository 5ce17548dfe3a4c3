"""``bocage analyst``: let analysts in, give them budgets and keys, shut them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bocage.cli.service import of_owner
from bocage.cli.terminal import table_of

if TYPE_CHECKING:
    from rich.table import Table

    from bocage.service.core.owner import Owner


@click.group()
def analyst() -> None:
    """Add analysts, grant them tables, renew their keys, revoke them."""


@analyst.command()
@click.argument("name")
@of_owner
def add(owner: Owner, name: str) -> str:
    """Add the analyst NAME and print the key, which is shown this once and kept as a hash."""
    key = owner.registry.add_analyst(name)
    click.echo(f"The key of {name}, shown this once:", err=True)
    return key


@analyst.command("list")
@of_owner
def list_(owner: Owner) -> Table:
    """List the analysts, their tables and what they spent."""
    rows = []
    for known in owner.registry.analysts():
        accounts = [
            (a.table, a.grant, str(a.balance.spent), str(a.balance.cap or "")) for a in owner.accounts(known.name)
        ]
        rows += [(known.name, known.state, *account) for account in accounts or [("",) * 4]]
    return table_of(("Analyst", "State", "Table", "Grant", "Spent", "Budget"), rows)


@analyst.command()
@click.argument("name")
@click.argument("table")
@click.option("--budget", required=True, help="What the analyst may spend on the table.")
@of_owner
def grant(owner: Owner, name: str, table: str, budget: str) -> str:
    """Let NAME ask TABLE, or change the budget of one who may."""
    owner.grant(name, table, budget)
    return f"{name} may spend {budget} on {table}."


@analyst.command()
@click.argument("name")
@click.argument("table", required=False)
@of_owner
def revoke(owner: Owner, name: str, table: str | None) -> str:
    """Shut NAME out of TABLE, or of everything. Final; running jobs end at their next level."""
    owner.revoke(name, table)
    return f"{name} is revoked{'' if table is None else f' from {table}'}."


@analyst.command()
@click.argument("name")
@of_owner
def rotate(owner: Owner, name: str) -> str:
    """Give NAME a new key. The old one ends at once."""
    key = owner.registry.rotate(name)
    click.echo(f"The new key of {name}, shown this once:", err=True)
    return key
