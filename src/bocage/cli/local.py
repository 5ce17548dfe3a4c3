"""``bocage local``: nobody is trusted; every person distorts their own record before sending it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bocage.cli.files import check_place, replacing
from bocage.cli.terminal import printable
from bocage.errors import SurveyError

if TYPE_CHECKING:
    import pyarrow as pa

    from bocage.local import Distortion, Privacy, Survey
    from bocage.schema import Schema

_FILE = click.Path(path_type=Path)

# Commands of the other side, which receives the records; loaded when they are called.
ELSEWHERE: dict[str, str] = {
    "reconstruct": "bocage.cli.local_train:reconstruct",
    "train": "bocage.cli.local_train:train",
}


class LocalGroup(click.Group):
    """The commands of this file, and those that live elsewhere."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *ELSEWHERE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, attribute = ELSEWHERE[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=LocalGroup)
def local() -> None:
    """Learn from records that their owners distorted before sending them.

    \b
    Whoever asks   bocage local survey people.toml --noise laplace --privacy 100 \\
                     --response 2 --label response:3 -o survey.json
    Every person   bocage local show survey.json
                   bocage local distort survey.json me.csv -o sent.csv
    Whoever asks   bocage local reconstruct survey.json sent.csv
                   bocage local train survey.json sent.csv -o model.json
    """


@local.command()
@click.argument("schema_file", metavar="SCHEMA", type=_FILE)
@click.option("-o", "--output", type=_FILE, required=True, help="The survey to write, JSON.")
@click.option(
    "--noise",
    type=click.Choice(["uniform", "gaussian", "laplace", "class"]),
    help="How numbers are distorted that --set does not name.",
)
@click.option("--privacy", type=float, help="How much: 100 makes the 95 % interval as wide as the range.")
@click.option("--response", help="Epsilon of lists of values that --set does not name.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="COLUMN=HOW",
    help="One column: age=laplace:1, age=gaussian:100%, job=response:2, town=clear.",
)
@click.option("--label", "label", help="How the label is sent: clear, or response:EPSILON.")
@click.option("--title", default="", help="What participants read above the survey.")
@click.option("--edition", type=int, default=1, show_default=True, help="Raise it with a change.")
def survey(
    *,
    schema_file: Path,
    output: Path,
    noise: str | None,
    privacy: float | None,
    response: str | None,
    settings: tuple[str, ...],
    label: str | None,
    title: str,
    edition: int,
) -> None:
    """Make a survey: how each answer of a SCHEMA is distorted. Nothing is chosen for you.

    HOW is clear, class:WIDTH, classes:EDGE,EDGE,..., uniform:ALPHA, gaussian:SIGMA,
    laplace:EPSILON or response:EPSILON. Widths are in the unit of the column; uniform, gaussian,
    laplace and class also take a privacy, such as gaussian:100%.

    \b
    Examples:
      bocage local survey people.toml --noise laplace --privacy 100 --response 2 \\
        --label response:3 -o survey.json
      bocage local survey people.toml --set age=class:10 --set town=clear \\
        --label clear -o survey.json
    """
    from bocage.local import Survey
    from bocage.schema import Schema

    check_place(output)
    schema = Schema.read(schema_file)
    made = _distortions(schema, settings=settings, noise=noise, privacy=privacy, response=response, label=label)
    finished = Survey(schema, made, title, edition)
    finished.save(output)
    _show(finished)
    click.echo(f"\nWrote {output}. Records will carry its fingerprint {finished.fingerprint[:12]}….")


def _distortions(
    schema: Schema,
    *,
    settings: tuple[str, ...],
    noise: str | None,
    privacy: float | None,
    response: str | None,
    label: str | None,
) -> dict[str, Distortion]:
    from bocage.local import parse_distortion
    from bocage.schema import Numeric

    if (noise is None) != (privacy is None):
        raise SurveyError("--noise and --privacy go together: which noise, and how much.")
    how = {}
    for text in settings:
        column, equals, distortion = text.partition("=")
        if not equals or column not in schema.by_name or column in how:
            raise SurveyError(
                f"--set {text!r:.60}: write COLUMN=HOW, once for a column. The columns are {', '.join(schema.by_name)}."
            )
        how[column] = distortion
    if schema.label is not None:
        if label is None and schema.label.name not in how:
            raise SurveyError(f"--label is missing: say how {schema.label.name!r} is sent, clear or response:EPSILON.")
        how.setdefault(schema.label.name, label or "")
    for attribute in schema.attributes:
        if isinstance(attribute, Numeric) and noise is not None:
            how.setdefault(attribute.name, f"{noise}:{privacy!r}%")
        elif not isinstance(attribute, Numeric) and response is not None:
            how.setdefault(attribute.name, f"response:{response}")
    return {name: parse_distortion(schema[name], text) for name, text in how.items()}


@local.command()
@click.argument("survey_file", metavar="SURVEY", type=_FILE)
@click.option("--words", is_flag=True, help="In words for participants, instead of a table.")
def show(survey_file: Path, words: bool) -> None:
    """Show what a SURVEY protects: intervals, privacy of the range, and epsilon or none."""
    from bocage.local import Survey

    _show(Survey.read(survey_file), words=words)


@local.command()
@click.argument("survey_file", metavar="SURVEY", type=_FILE)
@click.argument("file", type=_FILE)
@click.option("-o", "--output", type=_FILE, required=True, help="What to send: .csv or .parquet.")
@click.option("--id", "identity", help="The column that names each record. It is not sent.")
@click.option("--by-row", is_flag=True, help="Records are known by their place, which must stay.")
@click.option("--keep", type=_FILE, help="Where answers are kept; beside the survey by default.")
@click.option("--anew", is_flag=True, help="Forget earlier answers and draw again. This leaks.")
def distort(
    *,
    survey_file: Path,
    file: Path,
    output: Path,
    identity: str | None,
    by_row: bool,
    keep: Path | None,
    anew: bool,
) -> None:
    """Distort the records of a CSV or Parquet FILE, on the machine of whoever they are about.

    What was sent is kept, in a file that only you can read and without the true answers: the same
    question gets the same answer, also if the true answer has changed. A FILE with several records
    needs --id or --by-row, so that each is known again.

    \b
    Examples:
      bocage local distort survey.json me.csv -o sent.csv
      bocage local distort survey.json household.csv --id name -o sent.parquet
    """
    from bocage.local import Kept, Survey, true_codes, write_records
    from bocage.local.keep import AVERAGES

    check_place(output)
    if output.suffix not in (".csv", ".parquet"):
        raise click.BadParameter("the name must end in .csv or .parquet", param_hint="--output")
    asked = Survey.read(survey_file)
    rows, names = _rows(asked, file, identity, by_row=by_row)
    kept = Kept(keep or survey_file.with_name(f"{survey_file.stem}.kept.json"))
    codes = true_codes(asked, rows)
    if anew and kept.forget(asked, names):
        click.secho(f"warning: {AVERAGES}", fg="yellow", err=True)
    before = set(kept.names(asked)) & set(names)
    records = kept.answer(asked, names, codes)
    with replacing(output) as place:
        write_records(records, place)
    if before:
        click.echo(
            f"{len(before)} of {len(names)} were answered before: the same answers again, whatever has changed since.",
            err=True,
        )
    click.echo(f"Wrote {len(records)} records to {output}. They are kept in {kept.path}.", err=True)


def _rows(survey: Survey, file: Path, identity: str | None, *, by_row: bool) -> tuple[pa.Table, list[str]]:
    """The true records, and what each of them is called."""
    from dataclasses import replace

    import pyarrow as pa

    from bocage.cli.rows import batches
    from bocage.schema import Categorical

    if by_row and identity is not None:
        raise SurveyError("--id and --by-row exclude each other.")
    schema, columns = survey.schema, [attribute.name for attribute in survey.schema]
    if identity is not None and identity not in columns:
        # The column is text to whoever reads the file, and no part of what is asked.
        schema = replace(schema, attributes=(*schema.attributes, Categorical(identity, ("",))))
        columns = [*columns, identity]
    parts = list(batches(file, schema, columns))
    if not sum(len(batch) for batch in parts):
        raise SurveyError(f"{file} has no records.")
    rows = pa.Table.from_batches(parts)
    if identity is not None:
        given = rows[identity].to_pylist()
        if None in given:
            raise SurveyError(f"{file}: a record has no {identity!r}, which is to name it.")
        return rows, [str(name) for name in given]
    if by_row:
        return rows, [f"row {place}" for place in range(1, len(rows) + 1)]
    if len(rows) > 1:
        raise SurveyError(
            f"{file} has several records. Name the column that tells them apart with --id, or say "
            "--by-row if their order never changes; without either a person could be drawn for twice."
        )
    return rows, ["me"]


def _show(survey: Survey, *, words: bool = False) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    screen = Console(highlight=False)
    title = printable(f"{survey.title or survey.schema.name}, edition {survey.edition}")
    statements = survey.privacy()
    whole = survey.record_privacy()
    if words:
        screen.print(Text(title, style="bold"))
        for statement in [*statements, whole]:
            screen.print(Text(f"- {printable(statement.words)}"))
        return
    table = Table(title=Text(title))
    table.add_column("answer")
    table.add_column("sent by")
    for head in ("50 %", "95 %", "99.9 %", "of range", "epsilon"):
        table.add_column(head, justify="right")
    for statement in statements:
        table.add_row(*(Text(printable(cell)) for cell in _row(statement)))
    screen.print(table)
    screen.print(Text(printable(whole.words), style="" if whole.epsilon else "bold red"))


def _row(statement: Privacy) -> list[str]:
    from bocage.local.privacy import figure

    widths = ["-"] * 3 if statement.widths is None else [figure(w) for w in statement.widths]
    percent = "-" if statement.percent is None else f"{figure(statement.percent)} %"
    epsilon = "none" if statement.epsilon is None else str(statement.epsilon)
    if statement.approximate is not None:
        epsilon = f"none; {figure(float(statement.approximate))} at delta 0.00001"
    return [statement.name, statement.kind, *widths, percent, epsilon]
