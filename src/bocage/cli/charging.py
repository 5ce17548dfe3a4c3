"""What `bocage train` and `bocage update` share: whose account pays, the price first, a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from rich.console import Console

    from bocage.learners import Plan
    from bocage.private import EpsilonLike, PrivateTable
    from bocage.schema import Schema

Command = TypeVar("Command", bound=Callable[..., Any])
DRY_ROWS = 10_000

_OPTIONS = (
    click.option("--ledger", envvar="BOCAGE_LEDGER", help="The ledger to charge: a file or a URL."),
    click.option("--analyst", help="Whose account is charged."),
    click.option("--cap", help="What all analysts may spend, if the ledger does not have the table."),
    click.option("--budget", help="What the analyst may spend, if the ledger does not have them."),
    click.option("--create-ledger", is_flag=True, help="Make the ledger if it is not there."),
    click.option("--study", is_flag=True, help="The rows are public: no ledger, no limit."),
    click.option("--dry-run", is_flag=True, help="Rows made up from the schema: free, and marked."),
    click.option("--yes", is_flag=True, help="Do not ask before the ledger is charged."),
)


def account_options(command: Command) -> Command:
    """The options that say which account pays."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_mode(context: click.Context, options: dict[str, Any]) -> None:
    """One of three: on a ledger, as a study, or as a dry run."""
    free = options["study"] or options["dry_run"]
    if free and context.get_parameter_source("ledger") is ParameterSource.ENVIRONMENT:
        options["ledger"] = None
    if sum([options["ledger"] is not None, options["study"], options["dry_run"]]) != 1:
        raise click.UsageError("Choose one: --ledger LEDGER to charge it, --study for public rows, or --dry-run.")
    if options["ledger"] is not None and not options["analyst"]:
        raise click.UsageError("Whose account is charged? Name it with --analyst.")


@contextmanager
def opened(source: str, schema: Schema, options: dict[str, Any], batch: str | None) -> Iterator[PrivateTable]:
    """The table of an account, of a study or of a dry run."""
    from bocage.private import protect, study

    if options["ledger"] is None:
        with study(source, schema, batch=batch) as public:
            if not options["dry_run"]:
                yield public
                return
            with public.dry_run(rows=DRY_ROWS) as made_up:
                yield made_up
                return
    analyst, create = options["analyst"], options["create_ledger"]
    cap, budget = limits(options["ledger"], schema, analyst, options["cap"], options["budget"], create=create)
    with protect(source, schema, ledger=options["ledger"], cap=cap, batch=batch) as owner:
        yield owner.analyst(analyst, budget)


def limits(
    ledger: str, schema: Schema, analyst: str, cap: str | None, budget: str | None, *, create: bool
) -> tuple[EpsilonLike, EpsilonLike]:
    """Cap and budget: those given, or those on record."""
    from bocage.accounting import Scope, open_ledger

    scope = Scope.table(schema.name)
    with open_ledger(ledger, create=create) as book:
        on_record = {balance.scope: balance.cap for balance in book.balances()}
    most, own = cap or on_record.get(scope), budget or on_record.get(scope.analyst(analyst))
    if most is None or own is None:
        whose, option = ("table", "--cap") if most is None else ("analyst", "--budget")
        raise click.UsageError(f"The ledger does not know this {whose} yet: give {option}.")
    return most, own


def show_price(screen: Console, plan: Plan, table: PrivateTable, options: dict[str, Any]) -> None:
    """The plan, its price and what is left; then the question whether to charge it."""
    screen.print(plan)
    if not table.has_ledger:
        if options["dry_run"]:
            screen.print("Dry run: rows made up from the schema. Free; no record is read.")
        else:
            screen.print("Study: the rows are taken for public. No ledger keeps count.")
        return
    screen.print(f"Price: epsilon {plan.budget}, of {table.remaining()} left.")
    declared = ""
    if table.batch is not None:
        declared = f" No person of batch {table.batch!r} is in another batch?"
        screen.print(
            f"Batch {table.batch!r}: charged beside the other batches, which together cost the "
            "maximum, because no person is in two of them.",
            markup=False,
        )
    if options["yes"] or table.remaining() < plan.budget:  # then the charge is refused
        return
    if not sys.stdin.isatty():
        raise click.UsageError("This charges a ledger and nobody can be asked: add --yes.")
    click.confirm(f"Charge epsilon {plan.budget}?{declared}", abort=True, err=True)


@contextmanager
def watched(table: PrivateTable, plan: Plan, stopped: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; if the work is stopped, what has been charged is said."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    screen = Console(stderr=True)
    before = table.spent()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task("growing", total=None)

        def show(done: int, of: int) -> None:
            words = f"growing, {min(done + 1, of)} of {of}"
            progress.update(task, completed=done, total=of, description=words)

        try:
            yield show
        except KeyboardInterrupt:
            progress.stop()
            if table.has_ledger and table.spent() > before:
                click.echo(f"Epsilon {plan.budget} was charged and stays charged. {stopped}", err=True)
            raise
