"""The public data sets, wherever they come from."""

from __future__ import annotations

import functools
import http.server
import json
import threading
import zipfile

import numpy as np
import pytest
from experiments.common import data

# Rows and label counts of the documents: read from the UCI documentation, not from these files.
NAMES = ["car", "mushroom", "nursery", "tic-tac-toe", "votes"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_labels_agree_with_the_document(name):
    found = data.load(name)
    assert len(found) == found.document["rows"]
    counts = np.bincount(found.labels, minlength=2).tolist()
    assert counts == list(found.document["class_counts"].values())
    assert found.schema.label is not None


def test_adult_joins_both_files_and_drops_what_is_missing():
    adult = data.load("adult", missing="drop", grids={"age": {"step": 1}}, row_cap=50_000)
    assert len(adult) == 45_222
    assert adult.schema["age"].cells == 74
    assert adult.schema.row_cap == 50_000
    assert np.bincount(adult.labels).tolist() == [34_014, 11_208]


def test_a_marker_is_a_value_or_drops_the_row():
    assert data.load("votes").schema["crime"].values == ("y", "n", "?")
    votes = data.load("votes", missing="drop")
    assert votes.schema["crime"].values == ("y", "n")
    assert len(votes) == 232
    assert "stalk-root" not in data.load("mushroom", without=["stalk-root"]).schema.by_name


def test_labels_can_be_merged():
    merged = data.load("nursery", merge={"recommend": "spec_prior", "very_recom": "spec_prior"})
    assert merged.schema.label.values == ("not_recom", "priority", "spec_prior")
    assert np.bincount(merged.labels).tolist() == [4320, 4266, 4374]


def test_folds_part_the_rows_evenly_by_label():
    labels = np.array([0] * 33 + [1] * 14)
    parts = data.folds(labels, 10, repetition=3, seed=7)
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(47))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(47))
        assert 3 <= (labels[test] == 0).sum() <= 4
        assert 1 <= (labels[test] == 1).sum() <= 2
    again = data.folds(labels, 10, repetition=3, seed=7)
    assert all((a[1] == b[1]).all() for a, b in zip(parts, again, strict=True))
    other = data.folds(labels, 10, repetition=4, seed=7)
    assert any(list(a[1]) != list(b[1]) for a, b in zip(parts, other, strict=True))


def test_what_is_nowhere_is_fetched_checked_and_kept(tmp_path, monkeypatch):
    text = data.find(json.loads((data.SCHEMAS / "car.schema.json").read_text()))
    site = tmp_path / "site" / "static" / "public" / "19"
    site.mkdir(parents=True)
    with zipfile.ZipFile(site / "car+evaluation.zip", "w") as archive:
        archive.writestr("car.data", text + "\r\n\n")  # other line ends are the same file
    handler = functools.partial(_Quiet, directory=tmp_path / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("BOCAGE_UCI", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.delenv("BOCAGE_DATA", raising=False)
        monkeypatch.setattr(data, "ROOT", tmp_path / "elsewhere" / "repository")
        assert len(data.load("car")) == 1728
        server.shutdown()
    assert len(data.load("car")) == 1728  # from the cache: the server is gone
    kept = tmp_path / "cache" / "bocage" / "data" / "car.data"
    kept.write_text(text.replace("vhigh", "low", 1))
    with pytest.raises(ValueError, match=r"car\.data is not the file that is expected"):
        data.load("car")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
