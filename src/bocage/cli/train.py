"""``bocage train``: learn a model from a table, with the price shown first."""

from __future__ import annotations

from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bocage.cli.charging import account_options, check_mode, opened, show_price, watched
from bocage.cli.files import check_new
from bocage.errors import LearnerError, ModelError

if TYPE_CHECKING:
    from rich.console import Console

    from bocage.learners import Learner
    from bocage.model import Released

_FILE = click.Path(path_type=Path)
_NO = {"false", "no", "off", "0"}
_YES = {"true", "yes", "on", "1"}


@click.command()
@click.argument("source")
@click.option("--schema", "schema_file", type=_FILE, required=True, help="The public schema.")
@click.option(
    "--learner",
    required=True,
    help="diffpid3, diffpc45, dpdf, …; a name that is not known lists all.",
)
@click.option("--epsilon", required=True, help="What the model may cost: 1, or 0.5.")
@click.option("--depth", help="Levels of the tree.")
@click.option("--criterion", help="max, gini or information_gain.")
@click.option("--trees", help="Number of trees of a forest.")
@click.option("--param", "more", multiple=True, help="Another parameter, as name=value; repeatable.")
@click.option("--batch", help="Declare that the rows are this batch, and that no person is in two batches.")
@account_options
@click.option("--output", type=_FILE, help="Write the model to this new file, as JSON.")
@click.pass_context
def train(
    context: click.Context,
    /,
    source: str,
    *,
    schema_file: Path,
    learner: str,
    epsilon: str,
    more: tuple[str, ...],
    batch: str | None,
    output: Path | None,
    **options: Any,
) -> None:
    """Learn a decision tree or a forest from SOURCE: a file, file.duckdb#table or postgresql://.

    Shows the plan and its price first and asks before it charges. The charge is on disk before a row
    is read; if the training stops half-way, the charge stands and no model is written.

    \b
    Examples:
      bocage train people.parquet --schema people.toml \\
        --learner diffpc45 --epsilon 1 --dry-run
      bocage train people.parquet --schema people.toml \\
        --learner diffpc45 --epsilon 1 --depth 4 \\
        --ledger people.ledger --analyst ann --output model.json
      bocage train people.parquet --schema people.toml \\
        --learner dpdf --epsilon 2 --trees 3 \\
        --param attributes=sex,region,education \\
        --ledger people.ledger --analyst ann --create-ledger \\
        --cap 5 --budget 3 --output forest.json
    """
    from rich.console import Console

    from bocage.schema import Schema

    check_mode(context, options)
    if output is not None:
        check_new(output)
    schema = Schema.read(schema_file)
    shortcuts = [f"{k}={options[k]}" for k in ("depth", "criterion", "trees") if options[k]]
    chosen = make_learner(learner, [*shortcuts, *more])
    plan = chosen.plan(schema, epsilon)
    screen = Console(highlight=False)
    with opened(source, schema, options, batch) as table:
        show_price(screen, plan, table, options)
        with watched(table, plan, "No model is written.") as show:
            model = chosen.fit(table, plan.budget, show)
    _finish(screen, model, output)


def _finish(screen: Console, model: Released, output: Path | None) -> None:
    """Write first, then show: what was paid for must not be lost to a closed terminal."""
    from bocage.cli.report import show_model, show_noise

    if output is not None:
        save_paid(model, output)
    show_model(screen, model)
    show_noise(screen, model)
    if output is not None:
        screen.print(f"\nThe model is in {output}. Next: bocage explain {output}", soft_wrap=True)


def save_paid(model: Released, output: Path, known: bytes | None = None) -> None:
    """Write a model that is paid for; where that fails, print it, so that it is not lost.

    A file that is to be replaced must still have the content `known`.
    """
    changed = known is not None and (not output.exists() or output.read_bytes() != known)
    try:
        if not changed:
            model.save(output)
            return
        problem = ModelError(f"{output} was changed meanwhile and is left as it is.")
    except ModelError as error:
        problem = error
    import json

    click.echo(json.dumps(model.to_dict()))
    raise problem


def make_learner(name: str, parameters: list[str]) -> Learner:
    """A learner from texts such as ``depth=5``; all of them are public."""
    from bocage.learners import LEARNERS

    if name not in LEARNERS:
        raise LearnerError(f"there is no learner {name!r}. There are {', '.join(LEARNERS)}.")
    accepted = {field.name: field for field in fields(LEARNERS[name])}  # type: ignore[arg-type] # every learner is a dataclass
    given = {}
    for text in parameters:
        key, equals, value = text.partition("=")
        if not equals or key not in accepted:
            raise LearnerError(f"{name} has no parameter {key!r}. Write name=value; it has {', '.join(accepted)}.")
        given[key] = _value(name, accepted[key], value.strip())
    return LEARNERS[name](**given)


def _value(learner: str, field: Field[Any], text: str) -> Any:
    kind = str(field.type)
    if text.lower() == "none" and "None" in kind:
        return None
    if "tuple" in kind:
        return tuple(part.strip() for part in text.split(","))
    if kind == "bool" and text.lower() in _YES | _NO:
        return text.lower() in _YES
    try:
        if kind.startswith("int"):
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        pass
    if kind.startswith(("int", "float", "bool")):
        raise LearnerError(f"{learner}: {field.name} is {kind}, not {text!r}.")
    return text
