"""The tour itself: an owner, an analyst, a budget and its end."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console, Group
from rich.text import Text

from bocage.demo.garden import grow
from bocage.demo.people import Columns, make_people, write_people
from bocage.demo.screen import chapter, columns, real, show, whole
from bocage.demo.source import distort_at_the_source
from bocage.errors import BudgetExceeded
from bocage.private import Answer, PrivateTable, ProtectedTable, protect
from bocage.private.answer import figure
from bocage.schema import Numeric, number

CAP, BUDGET = "4", "1.5"


def show_tour(directory: Path | None = None, *, rows: int = 100_000, console: Console | None = None) -> None:
    """Show the tour; keep table, schema and ledger if a directory is given."""
    screen = console or Console(highlight=False)
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        _tour(screen, directory, rows)
        screen.print(f"Table, schema, ledger, models and drawing are kept in {directory}.")
        return
    with tempfile.TemporaryDirectory(prefix="bocage-demo-") as temporary:
        _tour(screen, Path(temporary), rows)


def _tour(screen: Console, directory: Path, rows: int) -> None:
    people = make_people(rows)
    source, schema = write_people(people, directory)
    ledger = directory / "people.ledger"
    screen.print(
        Text.assemble(
            ("Bocage", "bold green"),
            f": {rows:,} made-up people, a privacy layer in front of them, and two analysts.\n"
            "The demo made the people, so it may show the exact values beside the noisy ones. "
            "An analyst never sees them.",
        )
    )
    with protect(source, schema, ledger=ledger, cap=CAP, create=True) as owner:
        table = owner.analyst("analyst", budget=BUDGET)
        _public(screen, owner)
        _preview(screen, table, rows)
        _questions(screen, table, people)
        _histogram(screen, table, people)
        _partition(screen, table, people)
        _again(screen, table)
        _choose(screen, table)
        grow(screen, owner, directory)
        _refusal(screen, table)
        _ledger(screen, owner)
    distort_at_the_source(screen, "11  Trusting nobody")


def _public(screen: Console, owner: ProtectedTable) -> None:
    chapter(
        screen,
        "1  What is public",
        "The owner signs a schema. It says all that may be known without asking; nothing in it "
        f"comes from the rows. All analysts together may spend epsilon {CAP}, this one {BUDGET}.",
    )
    table = columns("column", "kind", "domain", "known by its")
    for column in owner.schema:
        if isinstance(column, Numeric):
            domain = f"{number(column.lower)} … {number(column.upper)}"
            table.add_row(column.name, column.kind, domain, f"cell, one of {column.cells:,}")
        else:
            name = f"{column.name} (label)" if column is owner.schema.label else column.name
            table.add_row(name, column.kind, ", ".join(column.values), f"value, one of {column.cells}")
    show(screen, table)


def _preview(screen: Console, table: PrivateTable, rows: int) -> None:
    chapter(
        screen,
        "2  The price, before anything is read or charged",
        "A preview has the same methods and no rows behind it.",
    )
    priced = table.preview(rows=rows)
    answers = [
        priced.noisy_count("0.05"),
        priced.noisy_sum("hours", "0.1"),
        priced.noisy_avg("income", "0.1"),
        priced.noisy_counts("education", "0.1"),
    ]
    shown = columns("question", "epsilon", "± at 95 %", "mechanism", numbers=(1, 2))
    for answer in answers:
        error = "–" if answer.plus_minus is None else figure(round(answer.plus_minus))
        shown.add_row(answer.question, answer.cost, error, answer.mechanism)
    shown.add_row("together", str(priced.spent()), style="bold")
    show(screen, shown)
    needed = table.epsilon_for(50, "noisy_count")
    screen.print(f"\nThe other way round: a count within ± 50 needs epsilon {needed}.")


def _questions(screen: Console, table: PrivateTable, people: Columns) -> None:
    chapter(
        screen,
        "3  Noisy answers",
        "Each is charged to the ledger on disk first, then counted in DuckDB, then made noisy.",
    )
    income, age, hours = people["income"], people["age"], people["hours"]
    filtered = table.where("age >= 65 and ill = 'yes'")
    both = (age >= 65) & (people["ill"] == "yes")
    cases: list[tuple[str, Callable[[], Answer], float]] = [
        ("people", lambda: table.noisy_count("0.05"), float(age.size)),
        ("65 or older and ill", lambda: filtered.noisy_count("0.05"), float(both.sum())),
        ("hours of all a week", lambda: table.noisy_sum("hours", "0.1"), float(hours.sum())),
        ("average income", lambda: table.noisy_avg("income", "0.1"), float(income.mean())),
        ("median age", lambda: table.noisy_quantile("age", "0.1"), float(np.median(age))),
        (
            "9th decile of income",
            lambda: table.noisy_quantile("income", "0.1", level="0.9"),
            float(np.quantile(income, 0.9)),
        ),
    ]
    shown = columns("", "noisy", "95 % interval", "exact", "epsilon", numbers=(1, 2, 3, 4))
    for words, ask, exact in cases:
        answer = ask()
        low, high = answer.interval
        shown.add_row(
            words,
            Text(whole(answer.value), style="bold green"),
            f"{whole(low)} … {whole(high)}",
            Text(whole(exact), style="dim"),
            answer.cost,
        )
    show(screen, shown)
    _left(screen, table)


def _histogram(screen: Console, table: PrivateTable, people: Columns) -> None:
    chapter(
        screen,
        "4  A histogram: one scan, one charge",
        "Every person is in one bar only, so all bars together cost what one of them costs.",
    )
    answer = table.partition("age", edges=[30, 40, 50, 60, 70, 80]).noisy_count("0.05")
    exact = np.histogram(people["age"], [18, 30, 40, 50, 60, 70, 80, 91])[0].tolist()
    largest = max(exact)
    shown = columns("age", "", "noisy", "95 % interval", "exact", numbers=(2, 3, 4))
    for item, count in zip(answer.items, exact, strict=True):
        bar = "█" * round(26 * real(item.value) / largest)
        shown.add_row(
            item.key,
            Text(bar, style="green"),
            Text(whole(item.value), style="bold green"),
            f"{whole(item.low)} … {whole(item.high)}",
            Text(whole(count), style="dim"),
        )
    show(screen, shown)
    screen.print(Text(answer.footnote(), style="dim"))


def _partition(screen: Console, table: PrivateTable, people: Columns) -> None:
    chapter(
        screen,
        "5  A partition costs the maximum of its parts",
        "The regions are disjoint. Asked one by one, they cost the account only the rise of the "
        "largest sum spent on one of them.",
    )
    parts = table.partition("region")
    shown = columns("part", "ill", "exact", "asked", "left before", "left after", numbers=(1, 2, 3, 4, 5))
    asked = ["0.1", "0.1", "0.1", "0.1", "0.25"]
    for (key, part), epsilon in zip(parts.items(), asked, strict=True):
        before = table.remaining()
        answer = part.where("ill = 'yes'").noisy_count(epsilon)
        exact = ((people["region"] == key) & (people["ill"] == "yes")).sum()
        shown.add_row(
            key,
            Text(whole(answer.value), style="bold green"),
            Text(whole(float(exact)), style="dim"),
            epsilon,
            str(before),
            str(table.remaining()),
        )
    show(screen, shown)
    screen.print("\nFive questions, epsilon 0.65 asked, 0.25 paid: the maximum.")


def _again(screen: Console, table: PrivateTable) -> None:
    chapter(screen, "6  The same question again", "It returns the stored answer. New noise would cost.")
    screen.print()
    screen.print(Text(str(table.noisy_count("0.05"))))


def _choose(screen: Console, table: PrivateTable) -> None:
    chapter(
        screen,
        "7  Choose the best split",
        "The first step of a decision tree: which column, and where, tells the ill from the rest? "
        "Permute-and-flip over every column and every threshold at once.",
    )
    among = ["age", "sex", "region", "education", "hours", "income"]
    answer = table.choose(among, "gini", "0.2")
    screen.print()
    screen.print(Text.assemble("split on ", (str(answer.value), "bold green")))
    screen.print(Text(answer.footnote(), style="dim"))


def _refusal(screen: Console, table: PrivateTable) -> None:
    chapter(screen, "9  The end of the budget", f"Epsilon {table.remaining()} is left. Ask for 1:")
    screen.print()
    try:
        table.noisy_avg("hours", "1")
    except BudgetExceeded as refusal:
        screen.print(Text.assemble(("BudgetExceeded: ", "bold red"), str(refusal)))


def _ledger(screen: Console, owner: ProtectedTable) -> None:
    chapter(
        screen,
        "10  What the owner sees",
        "The ledger: append-only, each entry sealed by the hash of the one before.",
    )
    shown = columns("entry", "action", "where", "question", "epsilon", "hash", numbers=(0, 4))
    for entry in owner.ledger.entries():
        where = " / ".join([*entry.scope[:2], *entry.scope[3::2]])  # parts, not partitions' hashes
        epsilon = "" if entry.epsilon.nano == 0 else str(entry.epsilon)
        row = (str(entry.number), str(entry.action), where, _asked(entry.memo), epsilon)
        shown.add_row(*row, Text(entry.hash[:8], style="dim"))
    show(screen, shown)
    verdict = owner.ledger.verify()
    state = ("verified", "bold green") if verdict.ok else ("does not verify", "bold red")
    screen.print(
        Group(
            "",
            Text.assemble(f"Spent by all analysts: {owner.spent()} of {CAP}. The ledger is ", state, "."),
        )
    )


def _asked(memo: str) -> str:
    if not memo.startswith("{"):
        return memo
    plan = json.loads(memo)
    about = plan.get("column") or plan.get("label") or ""
    return f"{plan.get('ask') or plan.get('learner', '')} {about}".strip()


def _left(screen: Console, table: PrivateTable) -> None:
    screen.print(Text(f"\nEpsilon {table.remaining()} of {BUDGET} is left."))
