"""``bocage owner``: the owner's own way into the web console."""

from __future__ import annotations

from pathlib import Path

import click

from bocage.cli.home import HOME


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
    click.echo(
        "This is the only time it is shown. Log in with it at the address of the service.", err=True
    )
