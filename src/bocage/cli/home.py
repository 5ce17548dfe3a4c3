"""The home of a service, as the owner's commands find it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bocage.service.core.owner import Owner

HOME = click.option(
    "--home",
    type=click.Path(path_type=Path),
    envvar="BOCAGE_HOME",
    default=Path(),
    help="The directory that bocage init made; else BOCAGE_HOME, else the current one.",
)


def open_owner(home: Path) -> Owner:
    from bocage.service.core.directory import Home
    from bocage.service.core.owner import Owner

    return Owner.of(Home.open(home))


def printable(text: str) -> str:
    """Names are other people's text: no escape sequence of theirs reaches a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
