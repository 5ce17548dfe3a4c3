"""`bocage ledger`: look at what was spent, verify it, take it elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bocage.cli.terminal import printable

if TYPE_CHECKING:
    from bocage.accounting import Balance, Entry, Ledger

_target = click.argument("target", metavar="LEDGER", envvar="BOCAGE_LEDGER")


@click.group()
def ledger() -> None:
    """Show, verify and export a ledger: a file, a postgresql:// URL, or the home of a service."""


@ledger.command()
@_target
@click.option("--table", help="Only this table.")
@click.option("--parts", is_flag=True, help="Also the partitions and parts below the analysts.")
@click.option("--last", default=20, show_default=True, help="How many entries to show.")
def show(target: str, table: str | None, parts: bool, last: int) -> None:
    """Show the accounts with what they have left, and the last entries."""
    from rich.console import Console

    from bocage.accounting import Scope

    with _open(target) as opened:
        balances = opened.balances()
        if table:
            entries = opened.entries(Scope.table(table))[-last:]
        else:
            entries = opened.entries(after=max(0, opened.head().number - last))
    console = Console()
    console.print(_accounts(balances, table, parts))
    console.print(_entries(entries if last > 0 else []))


@ledger.command()
@_target
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An anchor or an earlier export: also find out whether entries known there are missing.",
)
@click.option(
    "--signed-by",
    help="The public key of the owner: LEDGER is an export, and must be signed by it.",
)
def verify(target: str, against: Path | None, signed_by: str | None) -> None:
    """Replay the chain of entries and compare every balance. LEDGER may also be an export."""
    from rich.console import Console

    from bocage.accounting import known_head, verify_export

    with _clear_errors():
        head = known_head(against) if against else None
        if signed_by is not None:
            from bocage.service.core.exports import check_signature

            check_signature(Path(target), signed_by)
        if _is_export(target):
            verification = verify_export(target, head)
        else:
            with _open(target, check=False) as opened:
                verification = opened.verify(head)
    console = Console()
    for problem in verification.problems:
        console.print(f"✗ {printable(problem)}", style="red", markup=False, highlight=False)
    if not verification.ok:
        raise click.ClickException("the ledger does not verify.")
    console.print(
        f"✓ {verification.head.number} entries verify; the last is {verification.head.hash}",
        style="green",
        highlight=False,
        soft_wrap=True,
    )


@ledger.command()
@_target
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The private key that signs; that of the home, if LEDGER is one.",
)
def export(target: str, file: Path, key: Path | None) -> None:
    """Write all entries to a new FILE of JSON lines; keep it where the ledger's host cannot write.

    With a key, FILE.sig holds its signature.
    """
    key = key or _home_key(target)
    if key is not None:
        from bocage.parties import Signer
        from bocage.service.core.exports import sign_export

        with _clear_errors():
            signer = Signer.load(key)
    with _open(target) as opened:
        head = opened.export(file)
    click.echo(f"{head.number} entries written to {file}; the last is {head.hash}")
    if key is not None:
        with _clear_errors():
            signature = sign_export(file, signer)
        click.echo(f"Signed in {signature} by {signer.public}")


@ledger.command()
@_target
@click.argument("file", required=False, type=click.Path(path_type=Path))
def anchor(target: str, file: Path | None) -> None:
    """Begin an anchor: a new FILE on another disk that names the last entry after every charge.

    From then on, the ledger takes charges only with its anchor, and a copy that is older is refused.
    FILE is that of the settings if LEDGER is the home of a service.
    """
    file = file or _home_anchor(target)
    if file is None:
        raise click.UsageError("name the FILE, or set anchor in the settings of the home.")
    with _open(target) as opened:
        head = opened.begin_anchor(file)
    click.echo(f"{file} names entry {head.number}. Charge the ledger with this anchor from now on.")


@ledger.command()
@_target
@click.option("--memo", default="", help="Why, for the record.")
def move(target: str, memo: str) -> None:
    """Say that a ledger file was moved, or restored, to where it is now, and is the only one.

    Of two copies both would spend the same budget. Stop what uses it first. The move is an entry.
    """
    from bocage.accounting import move_ledger

    if "://" in target:
        raise click.UsageError("a ledger in a database has no place: only a file is moved.")
    with _clear_errors():
        entry = move_ledger(_address(target), memo)
    click.echo(f"The ledger is at this place now: entry {entry.number}.")


@contextmanager
def _open(target: str, *, check: bool = True) -> Iterator[Ledger]:
    from bocage.accounting import open_ledger

    with _clear_errors(), open_ledger(_address(target), check=check) as opened:
        yield opened


def _home_anchor(target: str) -> Path | None:
    if "://" in target or not Path(target).is_dir():
        return None
    from bocage.service.core.directory import Home

    with _clear_errors():
        return Home.open(target, _environment()).anchor


def _address(target: str) -> str:
    """The ledger of a home, or the one that is named."""
    if "://" in target or not Path(target).is_dir():
        return target
    from bocage.service.core.directory import Home

    return Home.open(target, _environment()).ledger_address


def _home_key(target: str) -> Path | None:
    if "://" in target or not Path(target).is_dir():
        return None
    from bocage.service.core.directory import Home

    with _clear_errors():
        return Home.open(target, _environment()).signing_key


def _environment() -> dict[str, str]:
    """Without the name that says here which ledger to look at: a home knows its own."""
    return {name: text for name, text in os.environ.items() if name != "BOCAGE_LEDGER"}


@contextmanager
def _clear_errors() -> Iterator[None]:
    from bocage.errors import BocageError

    try:
        yield
    except BocageError as error:
        raise click.ClickException(printable(str(error))) from error


def _is_export(target: str) -> bool:
    path = Path(target)
    if "://" in target or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _accounts(balances: list[Balance], only: str | None, parts: bool) -> object:
    from rich.table import Table
    from rich.text import Text

    from bocage.accounting import path_balances, remaining

    known = {balance.scope: balance for balance in balances}
    table = Table("Scope", title="Accounts", title_justify="left")
    for column in ("Spent", "Cap", "Left"):
        table.add_column(column, justify="right")
    table.add_column("State")
    for balance in balances:
        if only not in {None, balance.scope.path[0]} or not (parts or balance.scope.has_cap):
            continue
        left = remaining(path_balances(balance.scope.lineage, known))
        table.add_row(
            Text("  " * (len(balance.scope.path) - 1) + printable(balance.scope.name)),
            str(balance.spent),
            "" if balance.cap is None else str(balance.cap),
            Text(str(left), style="red" if left.nano == 0 else "green"),
            Text(balance.state, style="" if balance.state == "open" else "yellow"),
        )
    return table


def _entries(entries: list[Entry]) -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Last entries", title_justify="left")
    table.add_column("Number", justify="right")
    table.add_column("Time (UTC)")
    table.add_column("Action")
    table.add_column("Scope")
    table.add_column("Epsilon", justify="right")
    table.add_column("Memo", overflow="ellipsis", no_wrap=True)
    for entry in entries:
        table.add_row(
            str(entry.number),
            entry.time[:19].replace("T", " "),
            entry.action,
            Text(printable(" / ".join(entry.scope))),
            str(entry.epsilon) if entry.epsilon.nano else "",
            Text(printable(_told(entry))),
        )
    return table


def _told(entry: Entry) -> str:
    from bocage.accounting import Declaration
    from bocage.errors import LedgerError

    if entry.action != "declare":
        return entry.memo
    try:
        return Declaration.read(entry.memo).text
    except LedgerError:
        return entry.memo
