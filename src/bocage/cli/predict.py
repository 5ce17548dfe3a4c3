"""``bocage predict``: labels for the rows of a file."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bocage.cli.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

    from bocage.model import Model

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("model_file", metavar="MODEL", type=_FILE)
@click.argument("file", type=_FILE)
@click.option("--output", type=_FILE, help="Write to this file, .csv or .parquet.")
@click.option("--proba", is_flag=True, help="Also the share of each label.")
def predict(model_file: Path, file: Path, output: Path | None, proba: bool) -> None:
    """Predict a label for every row of a Parquet or CSV FILE, in the order of the rows.

    Nothing is charged: a model is released, and the rows are your own. A missing value, or one that
    the schema does not know, stops at the node that asks for it, and this node decides.

    \b
    Examples:
      bocage predict model.json people.csv
      bocage predict model.json people.parquet --proba --output labels.parquet
    """
    from bocage.model import load

    model = load(model_file)
    if output is None:
        _write_csv(sys.stdout, model, file, proba)
    elif output.suffix == ".parquet":
        with replacing(output) as place:
            _write_parquet(place, model, file, proba)
    elif output.suffix == ".csv":
        with replacing(output) as place, place.open("w", encoding="utf-8", newline="") as lines:
            _write_csv(lines, model, file, proba)
    else:
        raise click.BadParameter("the name must end in .csv or .parquet", param_hint="--output")


def _predictions(model: Model, file: Path, proba: bool) -> Iterator[dict[str, Any]]:
    """Batches of columns: the label, and with `proba` the share of each."""
    import pyarrow as pa

    from bocage.cli.rows import batches

    label = model.label_attribute
    for batch in batches(file, model.schema, model.columns):
        codes = model.encode(pa.Table.from_batches([batch]))
        predictions: dict[str, Any] = {label.name: [label.values[code] for code in model.predict_codes(codes).tolist()]}
        if proba:
            shares = model.predict_proba_codes(codes).T.tolist()
            predictions |= {f"{label.name}={value}": share for value, share in zip(label.values, shares, strict=True)}
        yield predictions


def _write_csv(lines: Any, model: Model, file: Path, proba: bool) -> None:
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(_layout(model, proba).names)
    for predicted in _predictions(model, file, proba):
        writer.writerows(zip(*predicted.values(), strict=True))


def _write_parquet(output: Path, model: Model, file: Path, proba: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    layout = _layout(model, proba)
    with pq.ParquetWriter(output, layout) as writer:
        for columns in _predictions(model, file, proba):
            writer.write_table(pa.table(columns, schema=layout))


def _layout(model: Model, proba: bool) -> pa.Schema:
    import pyarrow as pa

    label = model.label_attribute
    fields = [(label.name, pa.string())]
    if proba:
        fields += [(f"{label.name}={value}", pa.float64()) for value in label.values]
    return pa.schema(fields)
