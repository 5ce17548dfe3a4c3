"""Distributions of attributes, in Python and on the command line; and training there."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from bocage.cli import main
from bocage.errors import LearnerError
from bocage.local import (
    Clear,
    FewRecords,
    Laplace,
    RandomizedResponse,
    Records,
    Survey,
    ValueClass,
    distributions,
    write_records,
)
from bocage.model import load
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "people",
    (
        Numeric("age", 0, 100, step=1),
        Numeric("height", 0, 2, 200),
        Categorical("color", ("red", "green", "blue")),
    ),
    Categorical("ill", ("no", "yes")),
)
SURVEY = Survey(
    SCHEMA,
    {
        "age": Laplace("6"),
        "height": ValueClass(50),
        "color": RandomizedResponse("2"),
        "ill": Clear(),
    },
)


def people(n, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 101, n)
    return {
        "age": age,
        "height": rng.uniform(0, 2, n),
        "color": rng.choice(["red", "green", "blue"], n, p=[0.6, 0.3, 0.1]),
        "ill": np.where(age >= 60, "yes", "no"),
    }


RECORDS = Records.distort(SURVEY, people(20_000))


def test_every_attribute_is_estimated():
    """20,000 records: shares of three colors have a deviation below 0.01."""
    age, height, color = distributions(RECORDS)
    assert [d.attribute.name for d in (age, height, color)] == ["age", "height", "color"]
    assert np.abs(color.shares - [0.6, 0.3, 0.1]).max() < 0.1
    assert color.sent[0] < color.shares[0]
    assert len(age.shares) == 100
    assert height.shares.reshape(4, -1).sum(axis=1) == pytest.approx([0.25] * 4, abs=0.05)
    assert all(d.shares.sum() == pytest.approx(1) for d in (age, height, color))
    assert [color.text(0), height.text(0), age.text(0)] == ["red", "[0, 0.02)", "0 to 1"]
    assert height.middles()[:2].tolist() == pytest.approx([0.01, 0.03])
    with pytest.raises(LearnerError, match="no middles"):
        color.middles()


def test_labels_are_estimated_by_themselves():
    """People under 60 are not ill; of those, fewer than one in ten is estimated above 70."""
    well, ill = distributions(RECORDS, ["age"], by_label=True, intervals=10)
    assert (well.label, ill.label) == ("no", "yes")
    assert well.records + ill.records == 20_000
    assert well.shares[7:].sum() < 0.1
    assert ill.shares[:5].sum() < 0.1


def test_what_cannot_be_estimated_is_refused():
    with pytest.raises(LearnerError, match="does not ask for 'shoe'"):
        distributions(RECORDS, ["shoe"])
    empty = Records(SURVEY, {name: np.zeros(0, np.int64) for name in SCHEMA.by_name})
    with pytest.raises(LearnerError, match="no records"):
        distributions(empty)
    few = Records.distort(SURVEY, people(50))
    with pytest.warns(FewRecords, match="50 records in 10 intervals"):
        distributions(few, ["age"])
    bare = Survey(Schema("bare", SCHEMA.attributes[:1]), {"age": Clear()})
    with pytest.raises(LearnerError, match="asks for no label"):
        distributions(Records(bare, {"age": np.zeros(5, int)}), by_label=True)


# --- command line -------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    SURVEY.save(tmp_path / "survey.json")
    write_records(RECORDS, tmp_path / "sent.parquet")
    write_records(Records.distort(SURVEY, people(2000, 2)), tmp_path / "more.csv")
    return tmp_path


def bocage(*arguments):
    return CliRunner().invoke(main, ["local", *map(str, arguments)])


def test_reconstruct_shows_and_writes_distributions(files):
    done = bocage(
        "reconstruct", files / "survey.json", files / "sent.parquet", files / "more.csv",
        "--column", "color", "--column", "age", "--by-label", "-o", files / "out.csv",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "color where yes was sent" in done.output
    assert "█" in done.output
    with (files / "out.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 2 * 3 + 2 * 100
    red = [row for row in rows if (row["column"], row["label"], row["from"]) == ("color", "no", "red")]
    assert 0.4 < float(red[0]["estimated"]) < 0.8


def test_train_writes_a_model_that_says_what_is_guaranteed(files):
    done = bocage("train", files / "survey.json", files / "sent.parquet", "-o", files / "model.json")
    assert done.exit_code == 0, done.output
    assert "NO PRIVACY IS GUARANTEED FOR WHOLE RECORDS" in done.output
    model = load(files / "model.json")
    test = people(1000, 3)
    assert (model.predict(test) == test["ill"]).mean() > 0.85
    again = bocage("train", files / "survey.json", files / "sent.parquet", "-o", files / "model.json")
    assert again.exit_code == 2
    assert "exists already" in again.output


@pytest.mark.parametrize("algorithm", ["local", "global", "randomized"])
def test_train_takes_the_parameters_of_the_learner(files, algorithm):
    done = bocage(
        "train", files / "survey.json", files / "more.csv", "--algorithm", algorithm,
        "--intervals", 10, "--small", 500, "--depth", 3, "--fewest", 20, "--column", "age",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "age" in done.output


def test_the_command_line_refuses_in_words(files):
    other = Survey(SCHEMA, SURVEY.distortions, edition=2)
    other.save(files / "other.json")
    mixed = bocage("train", files / "other.json", files / "more.csv")
    assert mixed.exit_code == 2
    assert "another survey" in mixed.output
    original = bocage("train", files / "survey.json", files / "more.csv", "--algorithm", "original")
    assert original.exit_code == 2
    assert "records in the clear" in original.output
    assert bocage("reconstruct", files / "survey.json").exit_code == 2
    named = bocage("reconstruct", files / "survey.json", files / "more.csv", "-o", files / "a.txt")
    assert "must end in .csv" in named.output
    write_records(Records.distort(SURVEY, people(20)), files / "few.csv")
    few = bocage("reconstruct", files / "survey.json", files / "few.csv")
    assert few.exit_code == 0
    assert few.stderr.count("warning: 20 records in 10 intervals are too few") == 1
