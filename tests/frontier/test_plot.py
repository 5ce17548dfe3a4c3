"""The map as a picture."""

from __future__ import annotations

import json

from bocage.frontier import Chart, plot_chart
from bocage.frontier.chart import Point
from frontier.people import SCHEMA


def test_the_map_is_drawn(tmp_path):
    key = json.dumps(["rdt", {}])
    points = [Point(key, e, 1000, "additive", 70.0 + i) for i, e in enumerate(("0.1", "1"))]
    plot_chart(Chart.of(SCHEMA, points, public=False), tmp_path / "map.svg")
    assert "</svg>" in (tmp_path / "map.svg").read_text()
