"""``bocage frontier``: which learner to take, before any budget is spent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bocage.errors import LearnerError

if TYPE_CHECKING:
    import pyarrow as pa

    from bocage.frontier import Chart, Grid
    from bocage.schema import Schema

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("source", metavar="SCHEMA|TABLE")
@click.option("--schema", "schema_file", type=_FILE, help="The schema of TABLE, if rows are given.")
@click.option("--public", is_flag=True, help="TABLE is public: it is read without a charge.")
@click.option("--epsilon", "epsilons", multiple=True, help="An epsilon to try; repeatable.")
@click.option("--rows", "sizes", multiple=True, type=int, help="A number of rows; repeatable.")
@click.option("--learner", "learners", multiple=True, help="Only this learner; repeatable.")
@click.option("--generator", "laws", multiple=True, help="Only this law; repeatable.")
@click.option("--repetitions", default=3, show_default=True, help="Runs at each place and law.")
@click.option("--jobs", type=int, help="Processes; by default one per core.")
@click.option("--cache", type=_FILE, help="Where results are kept; by default the user's cache.")
@click.option("--plot", type=_FILE, help="Write the picture to this file, .png or .svg.")
@click.option("--csv", "csv_file", type=_FILE, help="Write the table to this file.")
def frontier(
    source: str,
    schema_file: Path | None,
    *,
    public: bool,
    cache: Path | None,
    plot: Path | None,
    csv_file: Path | None,
    jobs: int | None,
    learners: tuple[str, ...],
    **grid: Any,
) -> None:
    """Map accuracy against epsilon and rows for all learners, on rows made up from a SCHEMA.

    Nothing private is read: a SCHEMA is public, and a TABLE is taken only with --public. Results are
    kept, so that a map that was stopped goes on where it was.

    \b
    Examples:
      bocage frontier people.toml
      bocage frontier people.toml --rows 40000 --epsilon 0.5 --plot map.png
      bocage frontier iris.csv --schema iris.toml --public
    """
    from rich.console import Console

    from bocage.frontier import benchmark, plot_chart

    schema, table = _source(source, schema_file, public=public)
    for file in (plot, csv_file):
        if file is not None and not file.parent.is_dir():
            raise LearnerError(f"{file.parent} is no directory.")
    wanted = _grid(**grid)
    kept = cache or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bocage"
    screen = Console()
    with _bar(screen) as (_, show):
        chart = benchmark(
            schema,
            wanted,
            table=table,
            only=learners or None,
            cache=kept,
            jobs=jobs,
            progress=show,
        )
    screen.print(chart)
    if csv_file is not None:
        csv_file.write_text(chart.to_csv(), encoding="utf-8")
    if plot is not None:
        plot_chart(chart, plot)
        screen.print(f"The picture is in {plot}.", soft_wrap=True)
    for line in _advice(chart):
        screen.print(line, soft_wrap=True, highlight=False)


def _source(source: str, schema_file: Path | None, *, public: bool) -> tuple[Schema, pa.Table | None]:
    from bocage.schema import Schema

    if schema_file is None:
        if public:
            raise click.UsageError("--public goes with rows: name their schema with --schema.")
        return Schema.read(Path(source)), None
    if not public:
        raise click.UsageError(
            "The map reads rows without a charge. If they are public, say so with --public; for a "
            "private table give its SCHEMA alone."
        )
    import pyarrow as pa

    from bocage.cli.rows import batches

    schema = Schema.read(schema_file)
    names = [column.name for column in schema]
    return schema, pa.Table.from_batches(batches(Path(source), schema, names))


def _grid(epsilons: tuple[str, ...], sizes: tuple[int, ...], laws: tuple[str, ...], repetitions: int) -> Grid:
    from bocage.frontier import GENERATORS, Grid

    for law in laws:
        if law not in GENERATORS:
            raise LearnerError(f"there is no generator {law!r}. There are {', '.join(GENERATORS)}.")
    standard = Grid()
    return Grid(
        epsilons or standard.epsilons,
        sizes or standard.rows,
        laws or standard.generators,
        repetitions,
    )


def _bar(screen: Any) -> Any:
    from contextlib import contextmanager

    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    @contextmanager
    def running() -> Any:
        columns = (TextColumn("mapping"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
            task = bar.add_task("mapping", total=None)
            yield bar, lambda done, of: bar.update(task, completed=done, total=of)

    return running()


def _advice(chart: Chart) -> list[str]:
    """A sentence for the middle epsilon of every size."""
    middle = chart.epsilons[len(chart.epsilons) // 2]
    return [chart.recommend(rows, middle) for rows in chart.sizes]
