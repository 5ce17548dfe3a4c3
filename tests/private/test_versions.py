"""Rows that change: what is charged, and what is answered, is about one version of them."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bocage
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, PlanError
from bocage.private import Kind
from bocage.private.count import Count, Counts
from bocage.schema import Schema

WARDS = [f"w{i}" for i in range(10)]
DOCUMENT = {
    "name": "wards",
    "attributes": [
        {"name": "ward", "type": "categorical", "values": WARDS},
        {"name": "ill", "type": "categorical", "values": ["no", "yes"]},
    ],
}
SCHEMA = Schema.from_dict(DOCUMENT)


def write(path, ward):
    """Nine others in each ward; one person is in the ward of the day."""
    write_rows(path, [ward, *(w for w in WARDS for _ in range(9))], ["yes", *["no"] * 90])


def write_rows(path, wards, ill):
    new = path.with_suffix(".new")
    pq.write_table(pa.table({"ward": wards, "ill": ill}), new)
    new.replace(path)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "wards.parquet"
    write(path, "w0")
    return path


def opened(file, tmp_path, cap, **more):
    return bocage.protect(file, SCHEMA, ledger=tmp_path / "l", cap=cap, create=True, **more)


def test_who_moves_to_another_part_pays_for_both(file, tmp_path):
    with opened(file, tmp_path, 3) as owner:
        ann = owner.analyst("ann", 3)
        parts = ann.where("ill = 'yes'").partition("ward")
        for day in range(3):
            write(file, f"w{day}")
            parts[f"w{day}"].noisy_count(1)
            assert str(owner.spent()) == str(day + 1)
        write(file, "w3")
        with pytest.raises(BudgetExceeded):
            parts["w3"].noisy_count(1)


def test_a_version_that_comes_back_is_the_same_version(file, tmp_path):
    with opened(file, tmp_path, 9) as owner:
        parts = owner.analyst("ann", 9).partition("ward")
        for day, ward, spent in ((0, "w0", 1), (1, "w1", 2), (0, "w2", 2), (1, "w3", 2)):
            write(file, f"w{day}")
            parts[ward].noisy_count(1)
            assert str(owner.spent()) == str(spent)


class Watched:
    """An engine that keeps how many rows it found in the cells that it was asked about."""

    def __init__(self, engine):
        self.engine, self.seen = engine, []

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def answer(self, questions):
        tallies = self.engine.answer(questions)
        self.seen += [int(tally.totals.sum()) for tally in tallies]
        return tallies


def watched(level):
    engine = Watched(level._executor.engine)
    object.__setattr__(level._executor, "engine", engine)
    return engine


def test_groups_of_what_was_reserved_are_about_the_rows_of_its_moment(file, tmp_path):
    with opened(file, tmp_path, 1) as owner:
        level = owner.analyst("ann", 1).reserve(1, "groups")
        engine = watched(level)
        groups = level.split([("ward", None)]).group({w: [i] for i, w in enumerate(WARDS)})
        for day, ward in enumerate(WARDS):
            write(file, f"w{(day + 1) % 10}")
            groups[ward].ask(Counts(("ill",), Epsilon.of(1)))
        assert engine.seen == [10, *[9] * 9]  # the person is in w0, whatever the file says now
        assert str(owner.spent()) == "1"


def test_a_reservation_reads_one_version_from_its_first_question_to_its_last(file, tmp_path):
    with opened(file, tmp_path, 9) as owner:
        level = owner.analyst("ann", 9).reserve(9, "a tree")
        engine = watched(level)
        for rows in (91, 92, 93):
            level.ask(Count(Epsilon.of(1)))
            write_rows(file, ["w0"] * rows, ["no"] * rows)
        level.split([("ward", None)]).ask(Counts(("ill",), Epsilon.of(1)))
        assert engine.seen == [91] * 4


def test_a_stored_answer_is_about_the_version_and_the_schema_that_it_was_asked_of(file, tmp_path):
    with opened(file, tmp_path, 9) as owner:
        ann = owner.analyst("ann", 9)
        assert ann.noisy_count(1).kind is Kind.RELEASE
        assert ann.noisy_count(1).kind is Kind.STORED
        write(file, "w1")
        assert ann.noisy_count(1).kind is Kind.RELEASE
        write(file, "w0")
        assert ann.noisy_count(1).kind is Kind.STORED
    other = Schema.from_dict({**DOCUMENT, "separator": ";"})
    with bocage.protect(file, other, ledger=tmp_path / "l", cap=9) as owner:
        assert owner.analyst("ann", 9).noisy_count(1).kind is Kind.RELEASE


def test_rows_that_may_change_at_any_moment_are_asked_anew(tmp_path):
    path, rows = tmp_path / "wards.duckdb", tmp_path / "rows.parquet"
    write_rows(rows, ["w0"] * 200, ["no"] * 200)
    with duckdb.connect(str(path)) as source:
        source.execute(f"CREATE VIEW wards AS SELECT * FROM '{rows}'")
    with opened(f"{path}#wards", tmp_path, 1000) as owner:
        ann = owner.analyst("ann", 1000)
        assert ann.noisy_count(100).value == 200
        assert ann.preview().noisy_count(100).cost == "100"
        write_rows(rows, ["w0"] * 9, ["no"] * 9)
        again = ann.noisy_count(100)
        assert (again.kind, again.value, str(ann.spent())) == (Kind.RELEASE, 9, "200")


def test_a_batch_is_of_rows_that_do_not_change(tmp_path):
    path = tmp_path / "wards.duckdb"
    with duckdb.connect(str(path)) as source:
        source.execute("CREATE VIEW wards AS SELECT 'w0' AS ward, 'no' AS ill")
    with pytest.raises(PlanError, match="batch 'first' is of rows that may change at any moment"):
        opened(f"{path}#wards", tmp_path, 9, batch="first")
    opened(f"{path}#wards", tmp_path, 9, batch="first", snapshot="2026-01").close()


def test_the_rows_that_a_batch_once_had_are_no_second_batch(file, tmp_path):
    for version, batch in (("w0", "first"), ("w1", "first"), ("w2", "second")):
        write(file, version)
        opened(file, tmp_path, 9, batch=batch).close()
    for version in ("w0", "w1"):
        write(file, version)
        with pytest.raises(PlanError, match="once were, the rows of batch first"):
            opened(file, tmp_path, 9, batch="second")


def test_the_ledger_shows_when_rows_or_schema_changed_and_nothing_of_the_rows(file, tmp_path):
    with opened(file, tmp_path, 9) as owner:
        ann = owner.analyst("ann", 9)
        for day in (0, 1, 1, 0):
            write(file, f"w{day}")
            ann.noisy_count(1, fresh=True)
        events = [entry for entry in owner.ledger.entries() if entry.action == "declare"]
        assert len(events) == 3
        version = owner._executor.engine.version
        assert all(version not in entry.memo for entry in owner.ledger.entries())
        assert all(version not in " ".join(entry.scope) for entry in owner.ledger.entries())


def test_the_same_rows_are_no_second_batch(file, tmp_path):
    with opened(file, tmp_path, 9, batch="first") as owner:
        owner.analyst("ann", 9).noisy_count(1)
    with pytest.raises(PlanError, match="nobody is in two batches"):
        opened(file, tmp_path, 9, batch="second")
    write(file, "w1")
    with opened(file, tmp_path, 9, batch="second") as owner:
        owner.analyst("ann", 9).noisy_count(1)
        assert str(owner.spent()) == "1"
