"""``bocage explain``: what a model says, for people and for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("model_file", metavar="MODEL", type=_FILE)
@click.option("--text", "what", flag_value="text", help="Trees or tables as plain text.")
@click.option("--rules", "what", flag_value="rules", help="Rules and sub-rules.")
@click.option("--certificate", "what", flag_value="certificate", help="What was guaranteed.")
@click.option("--javascript", "what", flag_value="javascript", help="A predictor in JavaScript.")
@click.option("--sql", type=click.Choice(["duckdb", "postgresql"]), help="An SQL expression for the label.")
@click.option(
    "--sort",
    type=click.Choice(["support", "confidence", "depth", "label", "text"]),
    default="support",
    show_default=True,
    help="Order of the rules.",
)
@click.option("--label", help="Only rules for this label.")
@click.option("--min-support", type=float, default=0, help="Only rules with so many records.")
@click.option("--min-confidence", type=float, default=0, help="Only rules at least so sure, 0 to 1.")
@click.option("--leaves", is_flag=True, help="No sub-rules.")
@click.option("--json", "as_json", is_flag=True, help="Rules as JSON.")
def explain(model_file: Path, what: str | None, sql: Any, as_json: bool, **options: Any) -> None:
    """Explain a MODEL: its trees, its rules, its certificate; or hand it to another program.

    Support and confidence are released noisy counts: reading them costs nothing.

    \b
    Examples:
      bocage explain model.json
      bocage explain model.json --rules --label yes --min-support 500 --sort confidence
      bocage explain model.json --sql duckdb > label.sql
      bocage explain model.json --javascript > predict.mjs
    """
    from rich.console import Console

    from bocage.cli.report import parts_of, show_certificate, show_model
    from bocage.model import load, to_javascript, to_sql, to_text

    if sql is not None and what is not None:
        raise click.UsageError("Choose one of --text, --rules, --certificate, --sql, --javascript.")
    model = load(model_file)
    screen = Console(highlight=False)
    if sql is not None:
        click.echo(to_sql(model, sql))
    elif what == "javascript":
        click.echo(to_javascript(model))
    elif what == "text":
        click.echo("\n\n".join(to_text(part) for part in parts_of(model)))
    elif what == "certificate":
        show_certificate(screen, model)
    elif what == "rules":
        _show_rules(screen, model, as_json=as_json, **options)
    else:
        show_model(screen, model)


def _show_rules(
    screen: Any,
    model: Any,
    *,
    sort: Any,
    label: str | None,
    min_support: float,
    min_confidence: float,
    leaves: bool,
    as_json: bool,
) -> None:
    from bocage.errors import ModelError
    from bocage.model import rules

    values = model.label_attribute.values
    if label is not None and label not in values:
        raise ModelError(f"the model has no label {label!r}. It has {', '.join(values)}.")
    shown = rules(model, sub_rules=not leaves)
    shown = shown.filtered(label=label, min_support=min_support, min_confidence=min_confidence)
    shown = shown.sorted(sort)
    if as_json:
        click.echo(shown.to_json())
    else:
        screen.print(shown)
