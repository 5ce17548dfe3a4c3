"""The map: its recommendation, and how it reads on a screen."""

from __future__ import annotations

import json
from io import StringIO

from rich.console import Console

from bocage.frontier import Chart, Grid
from bocage.frontier.chart import Point
from frontier.people import SCHEMA


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
