"""Moving sources: one version for the life of a pinned engine, and a decision before the charge."""

from __future__ import annotations

import gc
import hashlib
import os
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.engine import open_engine
from bocage.engine.duckdb import DuckDBEngine
from bocage.engine.files import held_files
from bocage.engine.memory import MemoryEngine
from bocage.errors import EngineError, SourceError
from bocage.plan import Question
from bocage.schema import Categorical, Numeric, Schema

TREE = Categorical("tree", ("oak", "elm"), missing="elm", outside="elm")
SCHEMA = Schema("trees", (TREE,))
CAPPED = Schema("trees", (TREE,), row_cap=4)


def count(engine) -> int:
    return int(engine.answer([Question()])[0].totals.sum())


def listed(engine) -> int:
    return sum(batch.shape[1] for batch in engine.rows(Question(columns=("tree",))))


def put(path: Path, rows: int, tree: str = "oak") -> None:
    """Replace a file as a whole."""
    new = path.with_name("new" + path.suffix)
    new.unlink(missing_ok=True)
    if path.suffix == ".csv":
        new.write_text("tree\n" + f"{tree}\n" * rows)
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(new)) as connection:
            connection.execute(f"CREATE TABLE trees AS SELECT '{tree}' AS tree FROM range({rows})")
    else:
        pq.write_table(pa.table({"tree": [tree] * rows}), new)
    os.replace(new, path)  # noqa: PTH105


FILES = pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.duckdb"])
KEEP = pytest.mark.parametrize("keep_bytes", [-1, 2**20])


def opened(path: Path, schema: Schema = SCHEMA, keep_bytes: int = 2**20) -> DuckDBEngine:
    table = "trees" if path.suffix == ".duckdb" else None
    return DuckDBEngine(path, schema, table=table, keep_bytes=keep_bytes)


@FILES
@KEEP
def test_a_pinned_engine_reads_one_version_though_the_file_is_replaced(tmp_path, name, keep_bytes):
    path = tmp_path / name
    put(path, 2)
    engine = opened(path, keep_bytes=keep_bytes)
    was = engine.pin()
    version = was.version
    put(path, 3)
    now = engine.pin()
    for _ in range(2):
        assert (count(was), listed(was)) == (2, 2)
        assert (count(now), listed(now)) == (3, 3)
    assert was.version == version
    assert now.version not in {version, None}
    path.unlink()
    assert (count(was), count(now)) == (2, 3)
    with pytest.raises(SourceError, match="was replaced"):
        engine.pin()
    put(path, 4)
    assert count(engine) == 4
    engine.close()
    assert (count(was), count(now)) == (2, 3)
    with pytest.raises(SourceError, match="closed"):
        engine.pin()


@FILES
@KEEP
def test_a_replaced_file_that_breaks_a_rule_of_opening_is_refused_by_pin(tmp_path, name, keep_bytes):
    path = tmp_path / name
    put(path, 2)
    engine = opened(path, CAPPED, keep_bytes)
    was = engine.pin()
    put(path, 5)  # over the cap
    for _ in range(2):
        with pytest.raises(SourceError, match="was replaced"):
            engine.pin()
    path.write_bytes(b'tree\n"oak\n')  # nothing of this kind
    with pytest.raises(SourceError, match="was replaced"):
        engine.pin()
    put(path, 4)
    assert count(engine.pin()) == 4
    assert count(was) == 2


@pytest.mark.parametrize("cap", [None, 1000])
def test_a_capped_file_may_be_replaced_again_and_again(tmp_path, cap):
    path = tmp_path / "t.parquet"
    schema = Schema("trees", (TREE,), row_cap=cap)
    put(path, 100)
    engine = opened(path, schema)
    for rows in (100, 101, 102, 103, 1000):
        put(path, rows)
        assert count(engine.pin()) == rows


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
@pytest.mark.parametrize("held", [True, False])
def test_a_file_written_in_place_spoils_what_is_read_from_it(tmp_path, name, held, monkeypatch):
    if not held:
        monkeypatch.setattr(held_files, "MOST_HELD", 0)
    path = tmp_path / name
    put(path, 1000)
    was = opened(path, keep_bytes=-1).pin()
    assert count(was) == 1000
    content = path.read_bytes()
    with path.open("r+b") as file:  # the same bytes: that it was written is enough
        file.write(content)
    os.utime(path, ns=(1, 1))
    for read in (count, listed, lambda engine: engine.version):
        with pytest.raises(EngineError):
            read(was)


def test_files_that_cannot_be_held_are_compared_before_and_after(tmp_path, monkeypatch):
    monkeypatch.setattr(held_files, "MOST_HELD", 1)
    for number in range(3):
        put(tmp_path / f"t{number}.parquet", 1)
    engine = open_engine(f"{tmp_path}/t*.parquet", SCHEMA)
    streamed = DuckDBEngine(sorted(tmp_path.glob("t*.parquet")), SCHEMA, keep_bytes=-1).pin()
    assert count(engine) == count(streamed) == 3
    put(tmp_path / "t1.parquet", 5)
    assert count(engine) == 7
    with pytest.raises(EngineError):
        count(streamed)


def test_the_version_is_the_hash_of_the_bytes_and_not_of_name_or_schema(tmp_path):
    put(tmp_path / "a.parquet", 2)
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes())
    put(tmp_path / "c.parquet", 2, "elm")
    one, same, other = (open_engine(tmp_path / f"{n}.parquet", SCHEMA).version for n in "abc")
    bytes_of = hashlib.sha256((tmp_path / "a.parquet").read_bytes()).digest()
    assert one == same == hashlib.sha256(bytes_of).hexdigest()
    assert one != other


def view_of(tmp_path: Path, schema: Schema) -> DuckDBEngine:
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW trees AS SELECT * FROM read_parquet('{tmp_path}/t.parquet')")
    return DuckDBEngine(path, schema, table="trees")


def test_a_view_is_read_anew_at_every_question_and_pinned_as_one_moment(tmp_path):
    put(tmp_path / "t.parquet", 2)
    engine = view_of(tmp_path, SCHEMA)
    was = engine.pin()
    put(tmp_path / "t.parquet", 3)
    assert (count(was), listed(was), count(engine), listed(engine)) == (2, 2, 3, 3)
    (tmp_path / "t.parquet").unlink()
    assert count(was) == 2
    with pytest.raises(SourceError):
        engine.pin()
    assert engine.version is None


@pytest.mark.parametrize("over_cap", ["refuse", "cut"])
def test_the_row_cap_of_a_view_is_checked_at_every_question(tmp_path, over_cap):
    put(tmp_path / "t.parquet", 4)
    engine = view_of(tmp_path, Schema("trees", (TREE,), row_cap=4, over_cap=over_cap))
    assert count(engine) == 4
    put(tmp_path / "t.parquet", 5000)
    if over_cap == "cut":
        assert count(engine) == 4
    else:
        with pytest.raises(SourceError, match="row cap of 4"):
            engine.pin()
    put(tmp_path / "t.parquet", 3)
    assert count(engine) == 3


def test_rows_that_stand_only_in_the_log_of_a_database_are_rows(tmp_path):
    path = tmp_path / "t.duckdb"
    put(path, 2)
    engine = opened(path)
    assert count(engine) == 2
    engine.close()
    writer = duckdb.connect(str(path))
    writer.execute("SET wal_autocheckpoint = '1GB'")
    writer.execute("INSERT INTO trees VALUES ('elm')")
    was = path.stat().st_size, path.with_name("t.duckdb.wal").stat().st_size
    assert was[1] > 0
    # A copy, as a crash would leave it.
    for ending in ("", ".wal"):
        (tmp_path / f"c.duckdb{ending}").write_bytes((tmp_path / f"t.duckdb{ending}").read_bytes())
    writer.close()
    copied = opened(tmp_path / "c.duckdb")
    assert count(copied) == 3


@pytest.mark.slow
def test_a_moment_that_nobody_reads_any_more_holds_no_file(tmp_path):
    held = Path("/proc/self/fd")
    path = tmp_path / "t.parquet"
    put(path, 1)
    engine = opened(path, keep_bytes=-1)
    gc.collect()
    before = len(list(held.iterdir()))
    for rows in range(1, 30):
        put(path, rows)
        assert count(engine.pin()) == rows
    gc.collect()
    assert len(list(held.iterdir())) <= before + 2


def test_the_version_of_a_table_in_memory_is_that_of_its_codes():
    rows = {"tree": ["oak", "elm", "ash"]}
    same = {"tree": ["oak", "elm", "fir"], "more": [1, 2, 3]}  # one code stands for both
    assert MemoryEngine(rows, SCHEMA).version == MemoryEngine(same, SCHEMA).version
    for other in (["oak", "elm"], ["elm", "oak", "ash"], ["oak", "oak", "ash"]):
        assert MemoryEngine({"tree": other}, SCHEMA).version != MemoryEngine(rows, SCHEMA).version
    x, y = (Numeric(n, Fraction(0), Fraction(9), step=Fraction(1)) for n in "xy")
    columns = {"x": np.arange(5.0), "y": np.ones(5)}
    swapped = {"x": np.ones(5), "y": np.arange(5.0)}
    schema = Schema("t", (x, y))
    assert MemoryEngine(columns, schema).version != MemoryEngine(swapped, schema).version


def test_a_declared_name_is_the_version_of_a_source_without_one(tmp_path):
    put(tmp_path / "t.parquet", 2)
    view_of(tmp_path, SCHEMA).close()
    source = f"{tmp_path}/v.duckdb#trees"
    one, two, three, four = (open_engine(source, SCHEMA, snapshot=name) for name in ("May", "May", "June", None))
    assert one.version == two.version == one.pin().version == one.pin().pin().version
    assert len({one.version, three.version, four.version}) == 3
    assert four.version is None
    assert "May" not in str(one.version)
    own = open_engine(tmp_path / "t.parquet", SCHEMA)
    assert open_engine(tmp_path / "t.parquet", SCHEMA, snapshot="May").version == own.version
    with pytest.raises(SourceError, match="empty"):
        open_engine(source, SCHEMA, snapshot=" ")
