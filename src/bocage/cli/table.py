"""``bocage table``: put tables behind the service of a home, freeze them, take them away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bocage.cli.service import of_owner
from bocage.cli.terminal import table_of

if TYPE_CHECKING:
    from rich.table import Table

    from bocage.service.core.owner import Owner


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
@click.option("--adjacency", default="add_remove", show_default=True, help="add_remove or replace one record.")
@click.option("--noise", default="system", show_default=True, help="system, or opendp.")
@click.option("--batch", help="These rows are one batch of the table; no person is in two.")
@click.option(
    "--snapshot",
    help="The rows of a database do not change under this name, so that parts share a maximum.",
)
@of_owner
def add(
    owner: Owner,
    *,
    name: str,
    source: str,
    schema_file: Path,
    cap: str,
    adjacency: str,
    noise: str,
    batch: str | None,
    snapshot: str | None,
) -> str:
    """Register the table NAME. Its source is opened once now, so that a service can open it."""
    added = owner.add_table(
        *(name, source, schema_file, cap),
        adjacency=adjacency,
        noise=noise,
        batch=batch,
        snapshot=snapshot,
    )
    return f"Table {name} is registered; all analysts together may spend {added.cap}."


@table.command("list")
@of_owner
def list_(owner: Owner) -> Table:
    """List the tables and what was spent on them."""
    from bocage.accounting import Scope

    rows = []
    for entry in owner.registry.tables():
        balance = owner.ledger.balance(Scope.table(entry.scope))
        amounts = (str(balance.spent), str(balance.cap or ""), str(balance.state))
        rows.append((entry.name, entry.scope, entry.batch, entry.adjacency, *amounts))
    heads = ("Table", "Schema", "Batch", "Adjacency", "Spent", "Cap", "State")
    return table_of(heads, rows)


@table.command()
@click.argument("name")
@click.option("--cap", required=True, help="What all analysts together may spend from now on.")
@of_owner
def cap(owner: Owner, name: str, cap: str) -> str:
    """Change what all analysts together may spend on NAME."""
    owner.set_cap(name, cap)
    return f"All analysts together may spend {cap} on {name}."


@table.command()
@click.argument("name")
@of_owner
def freeze(owner: Owner, name: str) -> str:
    """Refuse every question to NAME until it is thawed; running jobs end at their next level."""
    owner.freeze(name)
    return f"Table {name} is frozen."


@table.command()
@click.argument("name")
@of_owner
def thaw(owner: Owner, name: str) -> str:
    """Accept questions to NAME again."""
    owner.thaw(name)
    return f"Table {name} is open."


@table.command()
@click.argument("name")
@of_owner
def remove(owner: Owner, name: str) -> str:
    """Take NAME out of the service. What was spent on it stays in the ledger."""
    owner.remove_table(name)
    return f"Table {name} is removed. Its account stays in the ledger."
