"""Runs of learners: which, where, kept as they come, and what is refused."""

from __future__ import annotations

import pytest

from bocage.errors import LearnerError
from bocage.frontier import Grid, benchmark, candidates, generate
from frontier.people import SCHEMA

SMALL = Grid(epsilons=("0.5", "2"), rows=(300,), generators=("additive",), repetitions=2)
FEW = ("diffpc45", "rdt")


def test_learners_that_cannot_learn_from_the_schema_are_left_out():
    names = {candidate.learner for candidate in candidates(SCHEMA)}
    assert "diffpc45" in names
    assert "diffpid3" not in names  # it takes no numeric attribute


def test_the_map_has_every_place_and_marks_the_best():
    chart = benchmark(SCHEMA, SMALL, only=FEW, jobs=1)
    assert {(p.epsilon, p.rows) for p in chart.places} == {("0.5", 300), ("2", 300)}
    for epsilon in ("0.5", "2"):
        here = [p for p in chart.places if p.epsilon == epsilon]
        best = max(p.accuracy for p in here)
        assert {p.candidate for p in here if p.on_frontier} == {p.candidate for p in here if p.accuracy == best}
        assert all(p.runs == 2 for p in here)


def test_a_map_goes_on_where_it_stopped(tmp_path):
    seen: list[tuple[int, int]] = []
    first = benchmark(SCHEMA, SMALL, only=FEW, jobs=1, cache=tmp_path)
    again = benchmark(SCHEMA, SMALL, only=FEW, jobs=1, cache=tmp_path, progress=lambda *at: seen.append(at))
    assert again == first
    assert seen == [(12, 12)]
    (file,) = tmp_path.iterdir()
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:-1]) + '\n["cut sho')
    third = benchmark(SCHEMA, SMALL, only=FEW, jobs=1, cache=tmp_path)
    assert {p.candidate for p in third.places} == {p.candidate for p in first.places}


def test_bad_grids_and_names_are_refused():
    with pytest.raises(LearnerError, match="rows"):
        Grid(rows=(3,))
    with pytest.raises(LearnerError, match="no learner 'oak'"):
        benchmark(SCHEMA, SMALL, only=("oak",))
    with pytest.raises(LearnerError, match="no generator"):
        generate("oak", SCHEMA, 100, 1)
