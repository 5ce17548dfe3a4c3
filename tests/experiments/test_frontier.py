"""The table of the frontier: the short version, the folds that are added, rivals over pipes, and the report."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.common.experiment import expected_of, reproduce, settings_of
from experiments.common.report import markdown, write
from experiments.common.runner import Cell, Results
from experiments.frontier import report as frontier_report
from experiments.frontier import rivals, table
from experiments.frontier.report import report
from experiments.frontier.run import EXPERIMENTS, HERE

SETTINGS = {
    "seed": 6, "data": ["votes"], "epsilons": [1.0], "ours": ["readable", "auto"], "first": 2,
    "most": 24, "error": 0.5, "errors": {"votes": 1.0}, "delta": 1e-6,
    "rivals": [
        {"method": "forest", "environment": "none", "most": 12, "settings": [{}, {"trees": 3}, {"trees": 5}]}
    ],
}  # fmt: skip
EXPECTED = {"epsilons": [1.0], "goals": {"votes": [95.5]}}


def cell(method, repetitions=2, setting=None, data="votes"):
    config = {"data": data, "epsilon": 1.0, "seed": 6, "method": method}
    if setting is not None:
        config |= {"setting": setting, "environment": "none", "delta": 1e-6}
    return Cell(config, repetitions)


def measured(*cells):
    """Results as they are read from a file, made by hand: cells with the accuracies of their folds."""
    return Results(
        {"key": where.key, "repetition": i, "values": {"accuracy": value, "seconds": 0.25}}
        for where, values in cells
        for i, value in enumerate(values)
    )


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(rivals, "problem", lambda _environment: "")


@pytest.mark.slow
def test_the_short_version_runs_and_writes_csv_markdown_and_a_plot(tmp_path):
    """Ten folds of votes at epsilon 2. A single split has 95.6; four out of five are exceeded in all
    folds together unless dozens of rows go wrong by chance.
    """
    found = reproduce(EXPERIMENTS[0], HERE, tmp_path, short=True, quiet=True)
    assert found.results.mean(data="votes", method="readable") > 80
    paths = write(found, tmp_path)
    assert [path.name for path in paths] == ["table.csv", "table.md", "table.svg", "table.png"]
    assert all(path.stat().st_size > 100 for path in paths)
    assert "| votes | *goal* | 95.8 |" in paths[1].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "setting",
    [{}, {"max_depth": 5, "n_estimators": 10}, {"C": 0.01, "encoding": "one-hot"}],
)
def test_a_setting_survives_being_a_text(setting):
    assert table.setting_of(table.text_of(setting)) == setting


def test_every_setting_of_the_configuration_survives_and_every_rival_has_requirements():
    settings = settings_of(HERE, "table", short=False)
    assert len(settings["data"]) == 8
    for rival in settings["rivals"]:
        assert rivals.requirements_of(rival["environment"]).exists()
        for setting in rival["settings"]:
            assert table.setting_of(table.text_of(setting)) == setting


def test_every_data_set_and_epsilon_of_the_configuration_has_a_goal():
    settings, expected = settings_of(HERE, "table", short=False), expected_of(HERE, "table")
    assert expected["epsilons"] == settings["epsilons"]
    assert set(expected["goals"]) == set(settings["data"])
    assert all(len(row) == 4 for row in expected["goals"].values())


def test_folds_are_added_where_the_standard_error_is_large(installed):
    """Errors: 5 > 1 for readable, 0 for auto. Of the rival's settings the best and the default go on."""
    cells = [
        cell("readable"), cell("auto"),
        cell("forest", setting="default"), cell("forest", setting="trees=3"),
        cell("forest", setting="trees=5"),
    ]  # fmt: skip
    values = ([80, 90], [90, 90], [70, 80], [75, 85], [60, 90])
    results = measured(*zip(cells, values, strict=True))
    assert [c.repetitions for c in table.more(results, cells, SETTINGS)] == [12, 2, 12, 12, 2]


def test_folds_end_at_the_most_and_at_a_run_that_was_stopped(installed):
    done = [cell("readable", 20), cell("forest", 12, "default"), cell("auto", 20)]
    results = measured((done[0], [80, 90] * 10), (done[1], [70, 80] * 6), (done[2], [50, 90]))
    assert [c.repetitions for c in table.more(results, done, SETTINGS)] == [24, 12, 20]


def test_the_report_says_in_words_where_a_rival_wins(installed):
    results = measured(
        (cell("readable"), [90, 92]),
        (cell("auto"), [89, 89.5]),
        (cell("forest", setting="default"), [70, 72]),
        (cell("forest", setting="trees=3"), [96, 97]),
    )
    text = markdown(report(results, SETTINGS, EXPECTED))
    assert "| votes | readable | 91.0 ± 1.0 |" in text
    assert "| votes | *best rival* | 96.5 ± 0.5 forest |" in text
    assert "| votes | *goal* | 95.5 |" in text
    assert "| votes | forest | 96.5 ± 0.5 [71.0] |" in text
    assert (
        "ahead by more than two standard errors in 1 of 1 cells:\n\n"
        "- votes at ε 1: forest (trees=3) 96.5 ± 0.5, readable 91.0 ± 1.0" in text
    )
    assert "`auto` is more than one point below the best of ours in 1:" in text
    assert "The best of ours is below the goal in 1:\n\n- votes at ε 1: readable 91.0 ± 1.0" in text


def test_the_report_says_that_no_rival_wins_and_what_was_not_run(monkeypatch):
    monkeypatch.setattr(rivals, "problem", lambda _environment: "cannot be installed")
    text = markdown(report(measured((cell("auto"), [96, 97])), SETTINGS, EXPECTED))
    assert "*best rival*" not in text
    assert "The best of ours is below the goal in 0." in text
    assert "- forest: cannot be installed." in text
    assert "- PrivaTree: the package index has no distribution of it." in text


def test_a_rival_that_is_not_installed_has_the_figures_that_were_recorded(tmp_path, monkeypatch):
    """Sixteen folds with a standard deviation of 2 have a standard error of 0.5; the rows are kept."""
    earlier = tmp_path / "earlier.csv"
    earlier.write_text(
        "data,epsilon,method,setting,accuracy,accuracy sd,runs,seconds\n"
        "votes,1.0,forest,trees=3,97.0,2.0,16,0.5\n"
        "votes,1.0,readable,,12.0,2.0,16,0.5\n"
    )
    monkeypatch.setattr(frontier_report, "RECORDED", earlier)
    monkeypatch.setattr(rivals, "problem", lambda _environment: "cannot be installed")
    found = report(measured((cell("readable"), [94.0, 96.0])), SETTINGS, EXPECTED)
    text = markdown(found)
    assert "| votes | *best rival* | 97.0 ± 0.5 forest |" in text
    assert "forest: cannot be installed; its figures are those of an earlier run" in text
    assert "97.0,2.0,16" in write(found, tmp_path)[0].read_text(encoding="utf-8")
    assert "12.0" not in text


def test_a_rival_that_failed_is_named(installed):
    lines = [{"key": cell("forest", setting="default").key, "repetition": 0, "values": {"failed": 1.0}}]
    text = markdown(report(Results(lines), SETTINGS, EXPECTED))
    assert "- forest on votes: it failed in 1 folds." in text


def ask(tmp_path, **changes):
    request = {
        "table": str(rivals.table_file("votes", tmp_path)),
        "folds": str(rivals.folds_file("votes", 0, 6, tmp_path)),
        "fold": 3, "method": "most frequent class", "setting": {}, "epsilon": 1.0, "delta": 1e-6,
    }  # fmt: skip
    return rivals.ask(Path(sys.executable), request | changes)


def test_a_process_of_another_environment_gets_our_folds(tmp_path):
    labels = rivals.data_of("votes").labels
    train, test = rivals.folds_of("votes", 0, 6)[3]
    share = 100 * np.mean(labels[test] == np.bincount(labels[train]).argmax())
    assert ask(tmp_path)["accuracy"] == pytest.approx(share)


def test_what_a_rival_raises_is_an_answer_and_the_next_question_is_answered(tmp_path):
    assert "ModuleNotFoundError" in ask(tmp_path, method="diffprivlib tree")["error"]
    assert "accuracy" in ask(tmp_path)


def test_rivals_get_codes_and_public_bounds(tmp_path):
    file = np.load(rivals.table_file("votes", tmp_path))
    assert file["x"].shape == (435, 16)
    assert set(np.unique(file["x"])) == {0, 1, 2}  # n, y and missing
    assert (file["cells"] == 3).all()
    assert (file["upper"] == 2).all()


def test_an_environment_that_cannot_be_made_is_remembered_with_its_reason(tmp_path, monkeypatch):
    """A real environment, and a package that is not there. The second time nothing is made."""
    monkeypatch.setattr(rivals, "STORE", tmp_path)
    monkeypatch.setattr(rivals, "requirements_of", lambda _: tmp_path / "wanted.txt")
    (tmp_path / "wanted.txt").write_text(f"{tmp_path}/absent-1.0-py3-none-any.whl\n")
    rivals.problem.cache_clear()
    why = rivals.problem("none")
    assert "absent-1.0" in why
    assert rivals.python_of("none").exists()
    shutil.rmtree(tmp_path / "none")
    rivals.problem.cache_clear()
    assert rivals.problem("none") == why
    assert not rivals.python_of("none").exists()
    rivals.problem.cache_clear()
