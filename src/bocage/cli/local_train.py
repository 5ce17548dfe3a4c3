"""``bocage local reconstruct`` and ``bocage local train``: what the receiver of records does."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bocage.cli.files import check_new, check_place, replacing
from bocage.cli.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console

    from bocage.local import Distribution, Records

_FILE = click.Path(path_type=Path)
_SURVEY = click.argument("survey_file", metavar="SURVEY", type=_FILE)
_RECORDS = click.argument("files", metavar="RECORDS...", type=_FILE, nargs=-1, required=True)
_INTERVALS = click.option(
    "--intervals",
    type=int,
    help="Intervals of a number; by default 100 records in each, 10 to 100.",
)
_STOP = click.option(
    "--stop",
    type=click.Choice(["chi_square", "convergence"]),
    default="chi_square",
    show_default=True,
    help="When a reconstruction ends: the rule of the paper, or when nothing changes.",
)
BAR = 24  # letters
MOST_INTERVALS = 30  # lines of a column on the screen
HEADER = ("column", "label", "from", "to", "sent", "estimated")


@click.command()
@_SURVEY
@_RECORDS
@click.option("--column", "columns", multiple=True, help="This attribute only; repeatable.")
@click.option("--by-label", is_flag=True, help="For the records of each label by themselves.")
@_INTERVALS
@_STOP
@click.option("-o", "--output", type=_FILE, help="Write all intervals to this .csv file.")
def reconstruct(
    *,
    survey_file: Path,
    files: tuple[Path, ...],
    columns: tuple[str, ...],
    by_label: bool,
    output: Path | None,
    **how: Any,
) -> None:
    """Estimate how true answers are distributed, from RECORDS that were sent under a SURVEY.

    Says nothing about any one person: the distribution of all of them is estimated.

    \b
    Examples:
      bocage local reconstruct survey.json sent.csv
      bocage local reconstruct survey.json monday.csv tuesday.csv \\
        --column age --by-label -o age.csv
    """
    from rich.console import Console

    from bocage.local import distributions

    if output is not None:
        check_place(output)
        if output.suffix != ".csv":
            raise click.BadParameter("the name must end in .csv", param_hint="--output")
    records = _read(survey_file, files)
    with _warnings_in_words():
        estimates = distributions(records, columns or None, by_label=by_label, **how)
    screen = Console(highlight=False)
    for distribution in estimates:
        _show(screen, distribution)
    if output is not None:
        with replacing(output) as file, file.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow(HEADER)
            for distribution in estimates:
                writer.writerows(_rows(distribution))
        screen.print(f"\nAll intervals are in {output}.", soft_wrap=True)


@click.command()
@_SURVEY
@_RECORDS
@click.option(
    "--algorithm",
    type=click.Choice(["byclass", "local", "global", "randomized", "original"]),
    default="byclass",
    show_default=True,
    help="Reconstruct by label, at every node, for all together; or take answers for the truth.",
)
@_INTERVALS
@_STOP
@click.option("--small", type=int, help="Local reconstructs at nodes with so many records.")
@click.option("--fewest", type=int, help="A node with fewer records is not split.")
@click.option("--depth", "most_depth", type=int, help="Levels of the tree.")
@click.option("--no-prune", is_flag=True, help="Keep splits that are not worth their bits.")
@click.option("--column", "columns", multiple=True, help="Test this attribute; repeatable.")
@click.option("-o", "--output", type=_FILE, help="Write the model to this new file, as JSON.")
def train(
    *,
    survey_file: Path,
    files: tuple[Path, ...],
    no_prune: bool,
    columns: tuple[str, ...],
    output: Path | None,
    **how: Any,
) -> None:
    """Learn a decision tree from RECORDS that were sent under a SURVEY.

    Nothing is charged: every person protected their own record. The tree is for records that are
    not distorted, so ship it to the people and apply it there (bocage draw, explain and the
    JavaScript export work as for any model).

    \b
    Examples:
      bocage local train survey.json sent.csv -o model.json
      bocage local train survey.json monday.csv tuesday.csv \\
        --algorithm local --small 5000 -o model.json
    """
    from rich.console import Console

    from bocage.cli.report import show_model
    from bocage.local import SurveyTree

    if output is not None:
        check_new(output)
    given = {name: value for name, value in how.items() if value is not None}
    learner = SurveyTree(prune=not no_prune, attributes=columns or None, **given)
    records = _read(survey_file, files)
    with _warnings_in_words():
        model = learner.fit(records)
    if output is not None:
        model.save(output)
    screen = Console(highlight=False)
    show_model(screen, model)
    if output is not None:
        screen.print(f"\nThe model is in {output}. Next: bocage explain {output}", soft_wrap=True)


def _read(survey_file: Path, files: Sequence[Path]) -> Records:
    from bocage.local import Records, Survey, read_records

    survey = Survey.read(survey_file)
    return Records.join([read_records(survey, path) for path in files])


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """Say once, without the line of our code, that there are too few records."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for words in dict.fromkeys(str(warning.message) for warning in caught):
        click.secho(f"warning: {words}", fg="yellow", err=True)


def _show(screen: Console, distribution: Distribution) -> None:
    from rich.table import Table
    from rich.text import Text

    name = printable(distribution.attribute.name)
    whose = "" if distribution.label is None else f" where {printable(distribution.label)} was sent"
    table = Table(title=Text(f"{name}{whose}: {distribution.records:,} records"), box=None)
    table.add_column("")
    table.add_column("sent", justify="right")
    table.add_column("estimated", justify="right")
    table.add_column("")
    share = distribution.shares
    groups = [part for part in _parts(len(share), min(len(share), MOST_INTERVALS)) if part.start < part.stop]
    sums = [float(share[part].sum()) for part in groups]
    for part, estimated in zip(groups, sums, strict=True):
        texts = [distribution.text(part.start), distribution.text(part.stop - 1)]
        interval = texts[0] if part.stop - part.start == 1 else f"{texts[0]} … {texts[1]}"
        bar = "█" * round(BAR * estimated / max(sums))
        sent = f"{100 * distribution.sent[part].sum():.1f} %"
        table.add_row(Text(printable(interval)), sent, f"{100 * estimated:.1f} %", bar)
    screen.print(table)


def _parts(size: int, lines: int) -> list[slice]:
    """As many neighbors together as fit on the screen."""
    return [slice(size * at // lines, size * (at + 1) // lines) for at in range(lines)]


def _rows(distribution: Distribution) -> Iterator[list[str]]:
    from bocage.schema import Categorical

    attribute = distribution.attribute
    for at, (sent, estimated) in enumerate(zip(distribution.sent, distribution.shares, strict=True)):
        if isinstance(attribute, Categorical):
            low = high = attribute.values[at]
        else:
            codes = distribution.edges[at], distribution.edges[at + 1]
            low, high = (repr(float(attribute.edge(int(code)))) for code in codes)
        yield [
            attribute.name,
            distribution.label or "",
            low,
            high,
            f"{sent:.6f}",
            f"{estimated:.6f}",
        ]
