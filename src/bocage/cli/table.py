"""``bocage table``: put tables behind the service of a home, freeze them, take them away."""

from __future__ import annotations

from pathlib import Path

import click

from bocage.cli.home import HOME, open_owner, printable


@click.group()
def table() -> None:
    """Register, list, freeze, thaw and remove the tables of a service."""


@table.command()
@click.argument("name")
@click.option("--source", required=True, help="A file, file.duckdb#table, postgresql:// or spark:.")
@click.option(
    "--schema",
    "schema_file",
    required=True,
    type=click.Path(path_type=Path),
    help="The public schema.",
)
@click.option("--cap", required=True, help="What all analysts together may spend.")
@click.option(
    "--adjacency", default="add_remove", show_default=True, help="add_remove or replace one record."
)
@click.option("--noise", default="system", show_default=True, help="system, or opendp.")
@click.option("--batch", help="These rows are one batch of the table; no person is in two.")
@click.option(
    "--snapshot",
    help="The rows of a database do not change under this name, so that parts share a maximum.",
)
@HOME
def add(
    *,
    name: str,
    source: str,
    schema_file: Path,
    cap: str,
    adjacency: str,
    noise: str,
    batch: str | None,
    snapshot: str | None,
    home: Path,
) -> None:
    """Register the table NAME. Its source is opened once now, so that a service can open it."""
    with open_owner(home) as owner:
        added = owner.add_table(
            *(name, source, schema_file, cap),
            adjacency=adjacency,
            noise=noise,
            batch=batch,
            snapshot=snapshot,
        )
    click.echo(f"Table {name} is registered; all analysts together may spend {added.cap}.")


@table.command("list")
@HOME
def list_(home: Path) -> None:
    """List the tables and what was spent on them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bocage.accounting import Scope

    shown = Table("Table", "Schema", "Batch", "Adjacency", "Spent", "Cap", "State")
    with open_owner(home) as owner:
        for one in owner.registry.tables():
            balance = owner.ledger.balance(Scope.table(one.scope))
            cells = (one.name, one.scope, one.batch, one.adjacency)
            amounts = (str(balance.spent), str(balance.cap or ""), str(balance.state))
            shown.add_row(*(Text(printable(cell)) for cell in (*cells, *amounts)))
    Console().print(shown)


@table.command()
@click.argument("name")
@click.option("--cap", required=True, help="What all analysts together may spend from now on.")
@HOME
def cap(name: str, cap: str, home: Path) -> None:
    """Change what all analysts together may spend on NAME."""
    with open_owner(home) as owner:
        owner.set_cap(name, cap)
    click.echo(f"All analysts together may spend {cap} on {name}.")


@table.command()
@click.argument("name")
@HOME
def freeze(name: str, home: Path) -> None:
    """Refuse every question to NAME until it is thawed; running jobs end at their next level."""
    with open_owner(home) as owner:
        owner.freeze(name)
    click.echo(f"Table {name} is frozen.")


@table.command()
@click.argument("name")
@HOME
def thaw(name: str, home: Path) -> None:
    """Accept questions to NAME again."""
    with open_owner(home) as owner:
        owner.thaw(name)
    click.echo(f"Table {name} is open.")


@table.command()
@click.argument("name")
@HOME
def remove(name: str, home: Path) -> None:
    """Take NAME out of the service. What was spent on it stays in the ledger."""
    with open_owner(home) as owner:
        owner.remove_table(name)
    click.echo(f"Table {name} is removed. Its account stays in the ledger.")
