"""``bocage schema``: draft, check and show what is public about a table."""

from __future__ import annotations

from pathlib import Path

import click

from bocage.errors import SchemaError

_FILE = click.Path(path_type=Path)


@click.group()
def schema() -> None:
    """Draft, check and show what is public about a table."""


@schema.command()
@click.argument("file", type=_FILE)
@click.option("--label", help="The column that trees will predict.")
@click.option("--name", help="Name of the table; the file's name if not given.")
@click.option("--output", type=_FILE, help="Write to this new file (.toml or .json).")
def draft(file: Path, label: str | None, name: str | None, output: Path | None) -> None:
    """Draft a schema from a Parquet or CSV FILE, for its owner to review.

    The draft holds domains observed in the data. It cannot be used before the line `draft = true` is
    removed: that signs it, and declares the domains public.
    """
    from bocage.engine.files.draft import SIGNING, draft_schema, to_json, to_toml

    if output is not None and output.suffix.lower() not in {".toml", ".json"}:
        raise click.BadParameter("the name must end in .toml or .json", param_hint="--output")
    document = draft_schema(file, name, label)
    as_json = output is not None and output.suffix.lower() == ".json"
    text = to_json(document) if as_json else to_toml(document)
    if output is None:
        click.echo(text, nl=False)
    else:
        _write_new(output, text)
    click.secho(SIGNING, fg="yellow", bold=True, err=True)
    for note in document["notes"][1:]:
        click.secho(note, fg="yellow", err=True)
    if output is not None:
        click.echo(f"The draft is in {output}. Review it, then: bocage schema check {file} {output}")


@schema.command()
@click.argument("file", type=_FILE)
@click.argument("schema_file", metavar="SCHEMA", type=_FILE)
def check(file: Path, schema_file: Path) -> None:
    """Check a Parquet or CSV FILE against a SCHEMA. For the owner's eyes only.

    Prints exact numbers of rows: do not publish them. Exits with 1 if the file would be refused.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bocage.engine.files.draft import EYES, check_file
    from bocage.schema import Schema

    declared = Schema.read(schema_file)
    report = check_file(file, declared)
    console = Console()
    table = Table("column", "type in file", title=Text(f"{file} against {declared.name}"))
    for heading in ("missing", "outside", "drops the row"):
        table.add_column(heading, justify="right")
    table.add_column("problem", style="red")
    for column in report.columns:
        counts = (f"{n:,}" for n in (column.missing, column.outside, column.dropped))
        table.add_row(Text(column.name), column.type, *counts, Text(column.problem))
    console.print(Text(EYES, style="bold yellow"))
    console.print(table)
    console.print(f"{report.rows:,} rows, of which {report.dropped:,} are dropped.")
    if report.undeclared:
        console.print(Text(f"Not in the schema, never read: {', '.join(report.undeclared)}."))
    for problem in report.problems:
        console.print(Text(problem, style="red"))
    console.print(Text(EYES, style="bold yellow"))
    if report.problems:
        raise click.exceptions.Exit(1)


@schema.command()
@click.argument("schema_file", metavar="SCHEMA", type=_FILE)
def show(schema_file: Path) -> None:
    """Show a SCHEMA as a table. Everything in it is public."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bocage.schema import Attribute, Categorical, Schema, number

    declared = Schema.read(schema_file)

    def domain(column: Attribute) -> str:
        if isinstance(column, Categorical):
            more = ", …" if column.cells > 8 else ""
            return ", ".join(column.values[:8]) + more
        grid = f"{column.cells} cells"
        if column.step is not None:
            grid = f"steps of {number(column.step)}"
        return f"{number(column.lower)} to {number(column.upper)}, {grid}"

    def rules(column: Attribute) -> tuple[str, str]:
        if isinstance(column, Categorical):
            missing, outside = column.missing, column.outside
            return (
                "drop" if missing is None else f"→ {missing}",
                "drop" if outside is None else f"→ {outside}",
            )
        missing_number = "drop" if column.missing is None else f"→ {number(column.missing)}"
        return missing_number, "clamp" if column.clamp else "drop"

    table = Table("column", "kind", "codes", "domain", "missing", "outside", title=Text(declared.name))
    for column in declared:
        kind = "label" if column is declared.label else column.kind
        cells = [column.name, kind, str(column.cells), domain(column), *rules(column)]
        table.add_row(*map(Text, cells))
    cap = "none" if declared.row_cap is None else f"{declared.row_cap:,} ({declared.over_cap})"
    console = Console()
    console.print(table)
    console.print(f"Row cap: {cap}. Fingerprint: {declared.fingerprint[:16]}.")


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SchemaError(f"{path} exists already. Choose another name for the draft.") from None
    except OSError as error:
        raise SchemaError(f"{path} cannot be written: {error.strerror}.") from None
