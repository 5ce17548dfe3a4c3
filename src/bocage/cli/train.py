"""``bocage train``: learn a model from a table, with the price shown first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bocage.cli.files import check_place
from bocage.cli.parameters import make_learner
from bocage.errors import ModelError

if TYPE_CHECKING:
    from rich.console import Console

    from bocage.learners import Learner, Plan
    from bocage.model import Forest, Tree
    from bocage.private import PrivateTable
    from bocage.schema import Schema

_FILE = click.Path(path_type=Path)
DRY_ROWS = 10_000


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
@click.option(
    "--param", "more", multiple=True, help="Another parameter, as name=value; repeatable."
)
@click.option("--ledger", envvar="BOCAGE_LEDGER", help="The ledger to charge: a file or a URL.")
@click.option("--analyst", help="Whose account is charged.")
@click.option("--cap", help="What all analysts may spend, if the ledger does not have the table.")
@click.option("--budget", help="What the analyst may spend, if the ledger does not have them.")
@click.option("--create-ledger", is_flag=True, help="Make the ledger if it is not there.")
@click.option("--study", is_flag=True, help="The rows are public: no ledger, no limit.")
@click.option("--dry-run", is_flag=True, help="Rows made up from the schema: free, and marked.")
@click.option("--yes", is_flag=True, help="Do not ask before the ledger is charged.")
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
    dry_run: bool,
    yes: bool,
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

    _check_mode(context, options, dry_run=dry_run)
    if output is not None:
        _check_new(output)
    schema = Schema.read(schema_file)
    shortcuts = [f"{k}={options[k]}" for k in ("depth", "criterion", "trees") if options[k]]
    chosen = make_learner(learner, [*shortcuts, *more])
    plan = chosen.plan(schema, epsilon)
    screen = Console(highlight=False)
    with _table(source, schema, options, dry_run=dry_run) as table:
        _preview(screen, plan, table, dry_run=dry_run)
        if table.has_ledger and not yes and table.remaining() >= plan.budget:
            _confirm(plan)
        model = _fit(chosen, table, plan)
    _finish(screen, model, output)


def _check_mode(context: click.Context, options: dict[str, Any], *, dry_run: bool) -> None:
    """One of three: on a ledger, as a study, or as a dry run."""
    if context.get_parameter_source("ledger") is ParameterSource.ENVIRONMENT and (
        options["study"] or dry_run
    ):
        options["ledger"] = None
    if sum([options["ledger"] is not None, options["study"], dry_run]) != 1:
        raise click.UsageError(
            "Choose one: --ledger LEDGER to charge it, --study for public rows, or --dry-run."
        )
    if options["ledger"] is not None and not options["analyst"]:
        raise click.UsageError("Whose account is charged? Name it with --analyst.")


def _check_new(output: Path) -> None:
    check_place(output)
    if output.exists():
        raise ModelError(f"{output} exists already. Choose another name for the model.")


@contextmanager
def _table(
    source: str, schema: Schema, options: dict[str, Any], *, dry_run: bool
) -> Iterator[PrivateTable]:
    from bocage.accounting import Scope, open_ledger
    from bocage.private import protect, study

    if options["ledger"] is None:
        with study(source, schema) as public:
            if not dry_run:
                yield public
                return
            with public.dry_run(rows=DRY_ROWS) as made_up:
                yield made_up
                return
    scope = Scope.table(schema.name)
    with open_ledger(options["ledger"], create=options["create_ledger"]) as book:
        known = {balance.scope: balance.cap for balance in book.balances()}
    cap = options["cap"] or known.get(scope)
    budget = options["budget"] or known.get(scope.analyst(options["analyst"]))
    if cap is None or budget is None:
        whose, option = ("table", "--cap") if cap is None else ("analyst", "--budget")
        raise click.UsageError(f"The ledger does not know this {whose} yet: give {option}.")
    with protect(source, schema, ledger=options["ledger"], cap=cap) as owner:
        yield owner.analyst(options["analyst"], budget)


def _preview(screen: Console, plan: Plan, table: PrivateTable, *, dry_run: bool) -> None:
    screen.print(plan)
    if table.has_ledger:
        screen.print(f"Price: epsilon {plan.budget}, of {table.remaining()} left.")
    elif dry_run:
        screen.print("Dry run: rows made up from the schema. Free; no record is read.")
    else:
        screen.print("Study: the rows are taken for public. No ledger keeps count.")


def _confirm(plan: Plan) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("This charges a ledger and nobody can be asked: add --yes.")
    click.confirm(f"Charge epsilon {plan.budget}?", abort=True, err=True)


def _fit(learner: Learner, table: PrivateTable, plan: Plan) -> Tree | Forest:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    screen = Console(stderr=True)
    before = table.spent()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=screen, transient=True, disable=not screen.is_terminal
    ) as progress:
        task = progress.add_task("growing", total=None)

        def show(done: int, of: int) -> None:
            words = f"growing, {min(done + 1, of)} of {of}"
            progress.update(task, completed=done, total=of, description=words)

        try:
            return learner.fit(table, plan.budget, show)
        except KeyboardInterrupt:
            progress.stop()
            if table.has_ledger and table.spent() > before:
                click.echo(
                    f"Epsilon {plan.budget} was charged and stays charged. No model is written.",
                    err=True,
                )
            raise


def _finish(screen: Console, model: Tree | Forest, output: Path | None) -> None:
    """Write first, then show: what was paid for must not be lost to a closed terminal."""
    from bocage.cli.report import show_model

    if output is not None:
        try:
            model.save(output)
        except ModelError:
            import json

            # It is paid for; somebody may still save it from here.
            click.echo(json.dumps(model.to_dict()))
            raise
    show_model(screen, model)
    if output is not None:
        screen.print(f"\nThe model is in {output}. Next: bocage explain {output}", soft_wrap=True)
