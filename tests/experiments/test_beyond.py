"""Tables of R packages as ours, and what is said of `auto` beside rivals there."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from experiments.frontier import beyond_tables
from experiments.frontier.beyond import measured
from experiments.frontier.beyond_report import report
from experiments.frontier.beyond_tables import SMALLER, SOURCES, Source, read


@pytest.fixture
def people(tmp_path):
    """Twenty rows, one without a label; a wage is missing, and every row has a name of its own."""
    (tmp_path / "towns").mkdir()
    frame = pd.DataFrame(
        {
            "rownames": range(20),
            "job": ["cook", None, "smith", "cook"] * 5,
            "wage": [100.0 + 10 * i if i != 3 else None for i in range(20)],
            "rooms": [1, 2] * 10,
            "name": [f"n{i}" for i in range(20)],
            "copy": ["no", "yes"] * 10,
            "ill": ["no", "yes"] * 9 + ["no", None],
        }
    )
    frame.to_pickle(tmp_path / "towns" / "people.pkl.compress", compression="xz")
    return tmp_path


def test_columns_are_categories_or_a_grid_and_what_is_missing_is_a_value(people, monkeypatch):
    monkeypatch.setattr(beyond_tables, "MOST", 12)
    data = read(people, Source("towns", "people", "ill", ("copy",)))
    assert data.codes.shape == (19, 3)  # neither numbers of rows nor names nor the copy
    assert data.arity == (3, 64, 2)
    assert data.numeric == (False, True, False)
    assert data.codes[:4, 0].tolist() == [1, 0, 2, 1]  # "?", cook, smith
    assert data.codes[[0, 1, 3, 18], 1].tolist() == [0, 3, 0, 63]  # 100 to 280 in 64 cells
    assert data.labels[:3].tolist() == [0, 1, 0]
    assert data.classes == 2


def test_rows_are_as_the_schema_declares_them(people):
    data = read(people, Source("towns", "people", "ill", ("copy", "name")))
    rows = data.take(np.array([0, 18]))
    assert [data.schema[name].cells for name in rows.column_names] == [3, 64, 2, 2]
    assert rows["a0"].to_pylist() == ["1", "2"]
    assert rows["a1"].to_pylist() == [0.5, 63.5]  # inside their cells


def test_our_learners_are_measured_and_a_cell_that_is_known_is_not_measured_again(people):
    source = Source("towns", "people", "ill", ("name",), folds=2)
    given = Namespace(data=people, ours=("bayes",), rivals=False)
    rows = measured(source, given, frozenset({("people", "bayes", "", "0.5")}))
    assert [row[:5] for row in rows] == [("people", "bayes", "", e, 2) for e in ("0.1", "1", "2")]
    assert all(0 <= float(row[5]) <= 100 for row in rows)


def test_no_table_is_in_both_lists_and_all_folds_of_the_smaller_ones_are_run():
    names = [(source.package, source.name) for source in (*SOURCES, *SMALLER)]
    assert len(set(names)) == len(names) == 33 + 21
    assert {source.folds for source in SOURCES} == {5}
    assert {source.folds for source in SMALLER} == {10}


def test_the_best_setting_of_the_best_rival_is_what_auto_is_compared_with():
    def row(data, method, accuracy, setting="", epsilon="1"):
        names = ("data", "method", "setting", "epsilon", "accuracy", "error")
        return dict(zip(names, (data, method, setting, epsilon, accuracy, "0.5"), strict=True))

    rows = [
        made
        for epsilon in ("0.1", "0.5", "1", "2")
        for made in (
            row("a", "auto", "80", epsilon=epsilon),
            row("a", "readable", "81", epsilon=epsilon),
            row("a", "DP-EBM", "70", "default", epsilon),
            row("a", "DP-EBM", "76", "max_rounds=20", epsilon),
            row("b", "auto", "70", epsilon=epsilon),
            row("b", "diffprivlib tree", "70.5", "default", epsilon),
        )
    ]
    text = report(rows)
    assert "mean over tables | +1.8 ± 2.2 |" in text
    assert "ahead of all rivals | 1 of 2 |" in text
    assert "ahead by two standard errors | 1 |" in text
    assert "behind by two standard errors | 0 |" in text
    assert "minus `auto`, mean | 0.5 |" in text
    assert "| a | `auto` | 80.0 ± 0.5 |" in text
    assert "| | best rival | 76.0 ± 0.5 DP-EBM |" in text
