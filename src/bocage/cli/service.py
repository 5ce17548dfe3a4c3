"""The home of a service: `bocage init` makes it, `serve` serves it, `owner` has its key; and how the owner's other
commands open it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

HOME = click.option(
    "--home",
    type=click.Path(path_type=Path),
    envvar="BOCAGE_HOME",
    default=Path(),
    help="The directory that bocage init made; else BOCAGE_HOME, else the current one.",
)


def of_owner(command: Callable[..., str | Table]) -> Callable[..., None]:
    """A command that is given the owner's side of a home, and returns what is printed once that is closed."""

    @HOME
    @wraps(command)
    def run(home: Path, **given: Any) -> None:
        from rich.console import Console

        from bocage.service.core.directory import Home
        from bocage.service.core.owner import Owner

        with Owner.of(Home.open(home)) as owner:
            answer = command(owner, **given)
        if isinstance(answer, str):
            click.echo(answer)
        else:
            Console().print(answer)

    return run


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


@click.command()
@click.option("--host", help="Address to listen on; loopback by default.")
@click.option("--port", type=int, help="Port to listen on.")
@click.option("--workers", type=int, help="Worker processes.")
@click.option("--tls-certificate", help="File of the TLS certificate chain.")
@click.option("--tls-key", help="File of the TLS private key.")
@click.option(
    "--behind-tls-proxy",
    is_flag=True,
    default=None,
    help="A proxy in front speaks TLS: serve plain HTTP on any address.",
)
@HOME
def serve(home: Path, **flags: Any) -> None:
    """Serve the tables of a home until stopped. All settings are in its settings.toml."""
    from bocage.service.core.directory import Home
    from bocage.service.server import serve as run

    run(Home.open(home, flags=flags))


@click.group()
def owner() -> None:
    """The owner's own key."""


@owner.command("key")
@HOME
def new_key(home: Path) -> None:
    """Make a new key for the owner's console and show it once; an older one ends at once."""
    from bocage.service.core.directory import Home
    from bocage.service.core.sessions import Sessions

    opened = Home.open(home)
    sessions = Sessions(opened.registry_address, opened.settings.session_minutes)
    try:
        click.echo(sessions.new_owner_key())
    finally:
        sessions.close()
    click.echo("This is the only time it is shown. Log in with it at the address of the service.", err=True)
