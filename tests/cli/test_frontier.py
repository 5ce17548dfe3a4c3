"""`bocage frontier`: what it reads, and what it writes."""

from __future__ import annotations

import json

from click.testing import CliRunner

from bocage.cli import main
from bocage.frontier import generate
from frontier.people import SCHEMA


def test_rows_are_read_only_if_they_are_said_to_be_public(tmp_path):
    schema, rows = tmp_path / "people.json", tmp_path / "people.csv"
    schema.write_text(json.dumps(SCHEMA.to_dict()))
    train, _ = generate("additive", SCHEMA, 400, seed=5)
    columns = train.table().to_pydict()
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    rows.write_text("\n".join(lines) + "\n")
    ask = ["frontier", str(rows), "--schema", str(schema), "--rows", "200", "--epsilon", "1"]
    ask += ["--learner", "rdt", "--repetitions", "1", "--jobs", "1", "--cache", str(tmp_path / "c")]
    refused = CliRunner().invoke(main, ask)
    assert refused.exit_code == 2
    assert "--public" in refused.output
    assert not (tmp_path / "c").exists()
    answered = CliRunner().invoke(main, [*ask, "--public", "--csv", str(tmp_path / "map.csv")])
    assert answered.exit_code == 0, answered.output
    assert "take rdt: expect" in answered.output
    assert (tmp_path / "map.csv").read_text().startswith("candidate,epsilon,rows,accuracy")
