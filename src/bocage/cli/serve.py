"""``bocage serve``: answer analysts over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bocage.cli.home import HOME


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
