"""``bocage party``: several owners make one model, and none shows a record to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bocage.cli.charging import limits
from bocage.cli.files import check_place
from bocage.errors import PartyError

if TYPE_CHECKING:
    from bocage.parties import PartyPlan, Share
    from bocage.private import PrivateTable

_FILE = click.Path(path_type=Path)
_OUTPUT = click.option("-o", "--output", type=_FILE, required=True, help="The file to write.")


@click.group()
def party() -> None:
    """Several owners make one model; none of them shows a record to another.

    \b
    The coordinator  bocage party plan people.toml --epsilon 0.5 --rows 90000 -o plan.json
    Every owner      bocage party key clinic.pem
                     bocage party contribute plan.json people.parquet --party clinic \\
                       --key clinic.pem --ledger clinic.ledger -o clinic.json
    Anyone           bocage party merge plan.json clinic.json other.json -o model.json
    """


@party.command()
@click.argument("file", type=_FILE)
def key(file: Path) -> None:
    """Make a key to sign contributions with, in the new FILE, and print its public part.

    Keep FILE to yourself. Tell the public key to whoever merges, on a way that nobody can change.
    """
    from bocage.parties import Signer

    signer = Signer.new()
    signer.save(file)
    click.echo(f"The private key is in {file}, which only you can read. The public key:", err=True)
    click.echo(signer.public)


@party.command()
@click.argument("schema_file", metavar="SCHEMA", type=_FILE)
@click.option("--epsilon", required=True, help="What a person pays: 1, or 0.5.")
@click.option("--rows", type=int, help="Public size of all tables together.")
@click.option("--owners", type=int, help="How many owners of rows are expected, for the rule.")
@click.option("--trees", type=int, help="Number of trees; follows from --rows.")
@click.option("--height", type=int, help="Levels of the trees; follows from --rows.")
@click.option(
    "--vertical",
    "columns",
    multiple=True,
    help="The columns of one owner, as NAME=column,column; repeatable.",
)
@click.option("--adjacency", default="add_remove", show_default=True, help="add_remove or replace one record.")
@_OUTPUT
def plan(
    schema_file: Path,
    columns: tuple[str, ...],
    epsilon: str,
    output: Path,
    **sizes: int | str | None,
) -> None:
    """Draw random trees from SCHEMA and publish them: a plan that owners follow.

    Without --vertical the owners hold different persons. With it they hold different columns of the
    same persons; then every owner has an equal part of epsilon, because the parts add up.
    """
    from bocage.cli.party_report import show_plan
    from bocage.parties import plan_columns, plan_rows
    from bocage.schema import Schema

    schema = Schema.read(schema_file)
    owners = sizes.pop("owners")
    if columns and owners is not None:
        raise click.UsageError("--owners is for owners of rows; --vertical names those of columns.")
    if owners is not None:
        sizes["owners"] = owners
    given: dict[str, Any] = sizes  # click has checked them
    plan = plan_columns(schema, epsilon, _owners(columns), **given) if columns else plan_rows(schema, epsilon, **given)
    plan.save(output)
    show_plan(plan)


@party.command()
@click.argument("plan_file", metavar="PLAN", type=_FILE)
@click.argument("source")
@click.option("--party", "name", required=True, help="Your name.")
@click.option("--key", "key_file", type=_FILE, required=True, help="Your private key.")
@click.option("--ledger", envvar="BOCAGE_LEDGER", required=True, help="Your ledger: a file or a URL.")
@click.option("--analyst", default="parties", show_default=True, help="Account that is charged.")
@click.option("--cap", help="What all accounts may spend, if the ledger does not have the table.")
@click.option("--budget", help="What the account may spend, if the ledger does not have it.")
@click.option("--create-ledger", is_flag=True, help="Make the ledger if it is not there.")
@click.option("--batch", help="The rows are this batch of the table; no person is in two batches.")
@click.option("--schema", "schema_file", type=_FILE, help="The same schema, for a file laid out otherwise.")
@click.option("--yes", is_flag=True, help="Do not ask before the ledger is charged.")
@_OUTPUT
def contribute(
    *,
    plan_file: Path,
    source: str,
    name: str,
    key_file: Path,
    ledger: str,
    analyst: str,
    cap: str | None,
    budget: str | None,
    create_ledger: bool,
    batch: str | None,
    schema_file: Path | None,
    yes: bool,
    output: Path,
) -> None:
    """Turn your table SOURCE into a signed contribution of noisy counts to PLAN.

    Charges your ledger once, before a row is read. The same command again writes the very same
    contribution, free. OUTPUT is Parquet if its name ends in .parquet, else JSON.

    In a plan over rows you declare by contributing that no person of your table is in the table of
    another owner. Rows that came later are a --batch: contribute them to the same plan under a name
    and a key of their own, and merge again.
    """
    from bocage.parties import PartyPlan, Signer
    from bocage.parties import contribute as release
    from bocage.private import protect
    from bocage.schema import Schema

    check_place(output)
    followed, signer = PartyPlan.load(plan_file), Signer.load(key_file)
    share = followed.share_of(name)
    schema = followed.schema_of(share) if schema_file is None else Schema.read(schema_file)
    most, own = limits(ledger, schema, analyst, cap, budget, create=create_ledger)
    with protect(source, schema, ledger=ledger, cap=most, adjacency=followed.adjacency, batch=batch) as owner:
        table = owner.analyst(analyst, own)
        if not yes:
            _confirm(followed, share, table)
        before = table.spent()
        made = release(followed, table, name, signer)
        made.save(output)
        paid = table.spent() - before
    price = f"Charged epsilon {paid}" if paid.nano else "Paid for before: nothing was charged"
    click.echo(f"{price} (ledger entry {made.entry}). {made.values.size:,} noisy counts in {output}.")


@party.command()
@click.argument("plan_file", metavar="PLAN", type=_FILE)
@click.argument("contributions", nargs=-1, required=True, type=_FILE)
@click.option(
    "--trust",
    multiple=True,
    help="A public key, or a file that lists some: only these are accepted. Repeatable.",
)
@_OUTPUT
def merge(plan_file: Path, contributions: tuple[Path, ...], trust: tuple[str, ...], output: Path) -> None:
    """Add up CONTRIBUTIONS to PLAN and write the model.

    All of them or none: what is forged, doubled, for another plan or does not fit is refused with
    its name and the reason.
    """
    from rich.console import Console

    from bocage.cli.report import show_certificate
    from bocage.parties import PartyPlan
    from bocage.parties import merge as add_up

    check_place(output)
    if output.exists():
        raise PartyError(f"{output} exists already. Choose another name for the model.")
    forest = add_up(PartyPlan.load(plan_file), contributions, trust=trust or None)
    forest.save(output)
    screen = Console(highlight=False)
    show_certificate(screen, forest)
    screen.print(f"\nThe model is in {output}. Next: bocage explain {output}", soft_wrap=True)


@party.command()
@click.argument("file", type=_FILE)
def inspect(file: Path) -> None:
    """Show what is in FILE: a plan, a contribution or a model. Exits with 1 if it is forged."""
    from bocage.cli.party_report import show_file

    if not show_file(file):
        sys.exit(1)


def _owners(columns: tuple[str, ...]) -> dict[str, list[str]]:
    owners: dict[str, list[str]] = {}
    for text in columns:
        name, equals, names = text.partition("=")
        if not equals or name in owners:
            raise click.UsageError("Write --vertical NAME=column,column once for every owner.")
        owners[name] = [column.strip() for column in names.split(",")]
    return owners


def _confirm(plan: PartyPlan, share: Share, table: PrivateTable) -> None:
    click.echo(
        f"Plan {plan.hash}: epsilon {share.epsilon} for {len(share.trees)} trees, of {table.remaining()} left.",
        err=True,
    )
    if not sys.stdin.isatty():
        raise click.UsageError("This charges a ledger and nobody can be asked: add --yes.")
    declared = "" if plan.vertical else " No person of your table is in another owner's?"
    click.confirm(f"Charge epsilon {share.epsilon}?{declared}", abort=True, err=True)
