"""``bocage analyst``: let analysts in, give them budgets and keys, shut them out."""

from __future__ import annotations

from pathlib import Path

import click

from bocage.cli.home import HOME, open_owner, printable


@click.group()
def analyst() -> None:
    """Add analysts, grant them tables, renew their keys, revoke them."""


@analyst.command()
@click.argument("name")
@HOME
def add(name: str, home: Path) -> None:
    """Add the analyst NAME and print the key, which is shown this once and kept as a hash."""
    with open_owner(home) as owner:
        key = owner.registry.add_analyst(name)
    click.echo(f"The key of {name}, shown this once:", err=True)
    click.echo(key)


@analyst.command("list")
@HOME
def list_(home: Path) -> None:
    """List the analysts, their tables and what they spent."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table("Analyst", "State", "Table", "Grant", "Spent", "Budget")
    with open_owner(home) as owner:
        for one in owner.registry.analysts():
            accounts = owner.accounts(one.name)
            rows = [
                (a.table, a.grant, str(a.balance.spent), str(a.balance.cap or "")) for a in accounts
            ]
            for row in rows or [("", "", "", "")]:
                cells = (one.name, one.state, *row)
                shown.add_row(*(Text(printable(cell)) for cell in cells))
    Console().print(shown)


@analyst.command()
@click.argument("name")
@click.argument("table")
@click.option("--budget", required=True, help="What the analyst may spend on the table.")
@HOME
def grant(name: str, table: str, budget: str, home: Path) -> None:
    """Let NAME ask TABLE, or change the budget of one who may."""
    with open_owner(home) as owner:
        owner.grant(name, table, budget)
    click.echo(f"{name} may spend {budget} on {table}.")


@analyst.command()
@click.argument("name")
@click.argument("table", required=False)
@HOME
def revoke(name: str, table: str | None, home: Path) -> None:
    """Shut NAME out of TABLE, or of everything. Final; running jobs end at their next level."""
    with open_owner(home) as owner:
        owner.revoke(name, table)
    click.echo(f"{name} is revoked{'' if table is None else f' from {table}'}.")


@analyst.command()
@click.argument("name")
@HOME
def rotate(name: str, home: Path) -> None:
    """Give NAME a new key. The old one ends at once."""
    with open_owner(home) as owner:
        key = owner.registry.rotate(name)
    click.echo(f"The new key of {name}, shown this once:", err=True)
    click.echo(key)
