"""Random trees from the command line: trained, and one tree of them drawn."""

from __future__ import annotations

from click.testing import CliRunner

from bocage.cli import main
from bocage.demo.people import make_people, write_people
from bocage.model import load


def test_train_and_draw_one_tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people(make_people(300), tmp_path)
    run = CliRunner().invoke
    trained = run(
        main,
        [
            "train",
            "people.parquet",
            "--schema",
            "people.toml",
            "--learner",
            "rdt",
            "--epsilon",
            "1",
            "--study",
            "--trees",
            "3",
            "--param",
            "height=2",
            "--output",
            "forest.json",
        ],
    )
    assert trained.exit_code == 0, trained.output
    assert len(load(tmp_path / "forest.json")) == 3
    drawn = run(main, ["draw", "forest.json", "--tree", "2", "-o", "tree.svg"])
    assert drawn.exit_code == 0, drawn.output
    assert (tmp_path / "tree.svg").read_text().startswith("<svg")
    refused = run(main, ["draw", "forest.json", "--tree", "9", "-o", "other.svg"])
    assert refused.exit_code != 0
    assert not (tmp_path / "other.svg").exists()
