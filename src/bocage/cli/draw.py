"""``bocage draw``: a tree as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from bocage.cli.files import replacing

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("model_file", metavar="MODEL", type=_FILE)
@click.option("--output", "-o", type=_FILE, required=True, help="The picture, an .svg file.")
@click.option("--tree", default=1, show_default=True, help="Which tree of a forest.")
def draw(model_file: Path, output: Path, tree: int) -> None:
    """Draw a tree of a MODEL as an SVG picture that every browser shows.

    \b
    Examples:
      bocage draw model.json -o tree.svg
      bocage draw forest.json -o third.svg --tree 3
    """
    from bocage.cli.report import trees_of
    from bocage.errors import ModelError
    from bocage.model import load
    from bocage.model.svg import to_svg

    trees = trees_of(load(model_file))
    if not 1 <= tree <= len(trees):
        raise ModelError(f"the model has trees 1 to {len(trees)}, not {tree}.")
    if output.suffix != ".svg":
        raise click.BadParameter("the name must end in .svg", param_hint="--output")
    with replacing(output) as place:
        place.write_text(to_svg(trees[tree - 1]), encoding="utf-8")
    click.echo(f"Tree {tree} of {len(trees)} is drawn in {output}.")
