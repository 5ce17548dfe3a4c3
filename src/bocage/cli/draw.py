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
    """Draw a MODEL, or a tree of it, as an SVG picture that every browser shows.

    \b
    Examples:
      bocage draw model.json -o tree.svg
      bocage draw forest.json -o third.svg --tree 3
    """
    from bocage.cli.report import parts_of
    from bocage.errors import ModelError
    from bocage.model import load
    from bocage.model.export.svg import to_svg

    parts = parts_of(load(model_file))
    if not 1 <= tree <= len(parts):
        raise ModelError(f"the model has trees 1 to {len(parts)}, not {tree}.")
    if output.suffix != ".svg":
        raise click.BadParameter("the name must end in .svg", param_hint="--output")
    with replacing(output) as picture:
        picture.write_text(to_svg(parts[tree - 1]), encoding="utf-8")
    what = f"Tree {tree} of {len(parts)}" if len(parts) > 1 else "The model"
    click.echo(f"{what} is drawn in {output}.")
