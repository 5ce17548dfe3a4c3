"""The map of learners: laws, grid, cache, frontier, recommendation, command line."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from bocage.cli import main
from bocage.errors import LearnerError
from bocage.frontier import GENERATORS, Chart, Grid, candidates, generate, plot_chart, survey
from bocage.frontier.chart import Point
from bocage.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "people",
        "attributes": [
            {"name": "color", "type": "categorical", "values": ["red", "green", "blue"]},
            {"name": "size", "type": "numeric", "lower": 0, "upper": 100, "cells": 50},
        ],
        "target": {"name": "buys", "type": "categorical", "values": ["no", "yes"]},
    }
)
SMALL = Grid(epsilons=("0.5", "2"), rows=(300,), generators=("additive",), repetitions=2)
FEW = ("diffpc45", "rdt")


@pytest.mark.parametrize("name", GENERATORS)
def test_a_law_makes_rows_of_the_schema(name):
    train, test = generate(name, SCHEMA, 500, seed=1)
    assert len(train) == 500
    assert len(test) == 2000
    for at, attribute in enumerate(SCHEMA.attributes):
        codes = train.points[:, at]
        assert codes.min() >= 0
        assert codes.max() < attribute.cells
    assert set(np.unique(train.labels)) <= {0, 1}
    table = train.table()
    assert table.column_names == ["color", "size", "buys"]
    assert set(table["color"].to_pylist()) <= {"red", "green", "blue"}
    assert all(0 <= value <= 100 for value in table["size"].to_pylist())


@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_seed_makes_the_same_rows_and_another_seed_others(name):
    first, again, other = (generate(name, SCHEMA, 200, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first.points, again.points)
    assert not np.array_equal(first.points, other.points)


def test_a_law_can_be_learned_better_than_by_guessing():
    train, test = generate("additive", SCHEMA, 5000, seed=3)
    majority = max(np.bincount(test.labels)) / len(test)
    cell = train.points[:, 0] * 8 + train.points[:, 1] * 8 // 50
    votes = np.zeros((24, 2))
    np.add.at(votes, (cell, train.labels), 1)
    guess = votes.argmax(axis=1)[test.points[:, 0] * 8 + test.points[:, 1] * 8 // 50]
    assert (guess == test.labels).mean() > majority + 0.02


def test_learners_that_cannot_learn_from_the_schema_are_left_out():
    names = {candidate.learner for candidate in candidates(SCHEMA)}
    assert "diffpc45" in names
    assert "diffpid3" not in names  # it takes no numeric attribute


def test_the_map_has_every_place_and_marks_the_best():
    chart = survey(SCHEMA, SMALL, only=FEW, jobs=1)
    assert {(p.epsilon, p.rows) for p in chart.places} == {("0.5", 300), ("2", 300)}
    for epsilon in ("0.5", "2"):
        here = [p for p in chart.places if p.epsilon == epsilon]
        best = max(p.accuracy for p in here)
        assert {p.candidate for p in here if p.on_frontier} == {
            p.candidate for p in here if p.accuracy == best
        }
        assert all(p.runs == 2 for p in here)


def test_a_map_goes_on_where_it_stopped(tmp_path):
    seen: list[tuple[int, int]] = []
    first = survey(SCHEMA, SMALL, only=FEW, jobs=1, cache=tmp_path)
    again = survey(
        SCHEMA, SMALL, only=FEW, jobs=1, cache=tmp_path, progress=lambda *at: seen.append(at)
    )
    assert again == first
    assert seen == [(12, 12)]
    (file,) = tmp_path.iterdir()
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:-1]) + '\n["cut sho')
    third = survey(SCHEMA, SMALL, only=FEW, jobs=1, cache=tmp_path)
    assert {p.candidate for p in third.places} == {p.candidate for p in first.places}


def test_a_recommendation_is_one_sentence_of_what_was_measured():
    key = json.dumps(["diffpc45", {"depth": 3}])
    points = [Point(key, "0.5", 1000, "additive", 80.0), Point(key, "0.5", 1000, "additive", 82.0)]
    chart = Chart.of(SCHEMA, points, public=False)
    assert chart.recommend(1000, "0.5") == (
        "With 1,000 rows and epsilon 0.5 take diffpc45 at depth 3: expect 81 ± 3 % on made-up rows "
        "of this schema (additive 81)."
    )
    assert "measured at 1,000 rows" in chart.recommend(4000, "1")


def test_the_whole_map_is_readable_on_a_screen_of_eighty_columns():
    key = json.dumps(["private_id3", {"depth": 3}])  # the longest name
    grid = Grid()
    where = [(rows, epsilon) for rows in grid.rows for epsilon in grid.epsilons]
    points = [Point(key, e, rows, "groups", 50 + i) for i, (rows, e) in enumerate(where)]
    screen = Console(width=80, file=StringIO())
    screen.print(Chart.of(SCHEMA, points, public=False))
    lines = screen.file.getvalue().splitlines()
    titles = [line.strip() for line in lines if "rows" in line]
    assert [title.split(", ")[2] for title in titles] == [
        "1,000 rows",
        "10,000 rows",
        "50,000 rows",
    ]
    cells = [line.split("│")[1:-1] for line in lines if "private_id3 at depth 3" in line]
    assert [[float(cell) for cell in line[1:]] for line in cells] == [
        [50, 51, 52, 53],
        [54, 55, 56, 57],
        [58, 59, 60, 61],
    ]


def test_the_map_is_drawn(tmp_path):
    key = json.dumps(["rdt", {}])
    points = [Point(key, e, 1000, "additive", 70.0 + i) for i, e in enumerate(("0.1", "1"))]
    plot_chart(Chart.of(SCHEMA, points, public=False), tmp_path / "map.svg")
    assert "</svg>" in (tmp_path / "map.svg").read_text()


def test_bad_grids_and_names_are_refused():
    with pytest.raises(LearnerError, match="rows"):
        Grid(rows=(3,))
    with pytest.raises(LearnerError, match="no learner 'oak'"):
        survey(SCHEMA, SMALL, only=("oak",))
    with pytest.raises(LearnerError, match="no generator"):
        generate("oak", SCHEMA, 100, 1)


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
