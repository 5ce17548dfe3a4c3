"""A tour of Bocage on made-up people: `make demo`, or ``bocage demo``."""

from __future__ import annotations

from pathlib import Path

import click

from bocage.demo.tour import show_tour


@click.command()
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep table, ledger, models and drawing here; without it they vanish at the end.",
)
@click.option("--rows", default=100_000, show_default=True, help="How many people to make up.")
def main(directory: Path | None, rows: int) -> None:
    """Ask a made-up table of 100,000 people: prices, noisy answers, three learned models, a budget
    and its end."""
    show_tour(directory, rows=rows)
