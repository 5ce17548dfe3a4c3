"""``bocage update``: add a new batch to a forest of random trees, with the price shown first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bocage.cli.charging import account_options, check_mode, opened, show_price, watched
from bocage.cli.files import check_new, check_place
from bocage.cli.train import save_paid
from bocage.errors import LearnerError

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("model_file", metavar="MODEL", type=_FILE)
@click.argument("source")
@click.option("--batch", required=True, help="The batch that the rows are; no person is in two.")
@click.option("--epsilon", required=True, help="What the batch may cost: 1, or 0.5.")
@click.option("--schema", "schema_file", type=_FILE, help="The same schema, for a file laid out otherwise.")
@account_options
@click.option("--output", type=_FILE, help="Write to this new file and leave MODEL as it is.")
@click.pass_context
def update(
    context: click.Context,
    /,
    model_file: Path,
    source: str,
    *,
    batch: str,
    epsilon: str,
    schema_file: Path | None,
    output: Path | None,
    **options: Any,
) -> None:
    """Add the rows of SOURCE, a new batch, to MODEL: a forest of random trees (learner rdt).

    Only the new rows are counted, and only they are charged. MODEL is replaced as a whole, after the
    charge; if anything stops before that, the charge stands and MODEL is as it was. Building it again
    from all rows is a new release: bocage train, and everybody pays again.

    \b
    Examples:
      bocage train january.parquet --schema people.toml \\
        --learner rdt --epsilon 1 --batch 2026-01 \\
        --ledger people.ledger --analyst ann --output forest.json
      bocage update forest.json february.parquet \\
        --batch 2026-02 --epsilon 1 \\
        --ledger people.ledger --analyst ann
    """
    from rich.console import Console

    from bocage.cli.report import show_certificate, show_noise
    from bocage.learners import RandomTrees
    from bocage.learners.papers.batches import check_update
    from bocage.model import Forest, load
    from bocage.schema import Schema

    check_mode(context, options)
    goal = output or (None if options["dry_run"] else model_file)
    if output is not None:
        check_new(output)
    elif goal is not None:
        check_place(goal)
    forest = load(model_file)
    known = model_file.read_bytes()
    if not isinstance(forest, Forest):
        raise LearnerError(f"{model_file} is a single tree; only forests of rdt take new batches.")
    learner = RandomTrees.of(forest)
    schema = forest.schema if schema_file is None else Schema.read(schema_file)
    plan = learner.update_plan(epsilon)
    screen = Console(highlight=False)
    with opened(source, schema, options, batch) as table:
        check_update(learner, forest, table)
        show_price(screen, plan, table, options)
        with watched(table, plan, f"{model_file} is as it was.") as show:
            updated = learner.update(forest, table, plan.budget, show)
            if goal is not None:
                save_paid(updated, goal, None if goal == output else known)
    show_certificate(screen, updated)
    show_noise(screen, updated)
    if goal is not None:
        screen.print(f"\nThe model is in {goal}. Next: bocage explain {goal}", soft_wrap=True)
