"""``bocage init``: make the home of a service."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--ledger", help="A postgresql:// URL for several hosts; else a file in DIRECTORY.")
def init(directory: Path, ledger: str | None) -> None:
    """Make DIRECTORY the home of a service: settings, ledger, registry and a signing key.

    \b
    Then:
      bocage table add people --home DIRECTORY --source people.parquet \\
        --schema people.toml --cap 5
      bocage analyst add ann --home DIRECTORY
      bocage analyst grant ann people --home DIRECTORY --budget 1
      bocage owner key --home DIRECTORY
      bocage serve --home DIRECTORY
    """
    from bocage.service.core.directory import Home

    home = Home.create(directory, ledger=ledger)
    click.echo(f"{directory} is the home of a service. Only you can enter it; keep a backup.")
    click.echo(f"Its exports and contributions are signed by {home.signer().public}")
