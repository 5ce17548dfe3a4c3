"""The command line. A command is loaded when it is run, so that ``--help`` is fast."""

from __future__ import annotations

from importlib import import_module

import click

from bocage._version import __version__
from bocage.errors import BocageError

# Where each command lives, and its line in the list of commands.
COMMANDS = {
    "demo": ("bocage.demo:main", "Ask a made-up table of 100,000 people."),
    "schema": ("bocage.cli.schema:schema", "Draft, check and show what is public about a table."),
    "train": ("bocage.cli.train:train", "Learn a decision tree or a forest, the price first."),
    "frontier": ("bocage.cli.frontier:frontier", "Which learner to take, before budget is spent."),
    "update": ("bocage.cli.update:update", "Add a new batch to a forest of random trees."),
    "explain": ("bocage.cli.explain:explain", "Explain a model: trees, rules, certificate."),
    "draw": ("bocage.cli.draw:draw", "Draw a tree as a picture."),
    "predict": ("bocage.cli.predict:predict", "Predict a label for every row of a file."),
    "party": ("bocage.cli.party:party", "Several owners make one model without pooling rows."),
    "local": ("bocage.cli.local:local", "Learn from records that their owners distorted."),
    "init": ("bocage.cli.service:init", "Make the home of a service."),
    "table": ("bocage.cli.table:table", "Register, freeze and remove tables of a service."),
    "analyst": ("bocage.cli.analyst:analyst", "Let analysts in, with keys and budgets."),
    "serve": ("bocage.cli.service:serve", "Answer analysts over HTTP."),
    "owner": ("bocage.cli.service:owner", "The owner's key for the web console."),
    "ledger": ("bocage.cli.ledger:ledger", "Show, verify and export what has been spent."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name][0].split(":")
        try:
            loaded = getattr(import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise click.ClickException(f"'bocage {cmd_name}' needs {error.name!r}, which is not installed.") from None
        if isinstance(loaded, click.Command):
            return loaded
        return click.Command(cmd_name, callback=loaded, help=COMMANDS[cmd_name][1])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BocageError as error:
            click.secho(f"error: {error}", fg="red", err=True)
            ctx.exit(2)
        except (KeyboardInterrupt, click.Abort):
            click.secho("stopped.", err=True)
            ctx.exit(130)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bocage")
def main() -> None:
    """Ask questions of records that you may not see.

    A data owner declares what is public about a table (its schema) and gives analysts a budget;
    analysts get noisy answers with error bars, and a ledger remembers what was spent.

    \b
    Try first:
      bocage demo                       the whole way, on made-up people
      bocage schema draft people.csv    a first schema of your file, to review
      bocage train --help               from a table to a tree, step by step
      bocage ledger show LEDGER         who spent how much
    """
