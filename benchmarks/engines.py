"""Speed of the local engines against their peers, in one run on one table.

The question is one level of a tree: joint counts of column and label for 14 categorical columns in
32 cells. Run as ``python benchmarks/engines.py [rows]``.
"""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bocage.engine.codes.counting import workers
from bocage.engine.duckdb import DuckDBEngine
from bocage.engine.memory import MemoryEngine
from bocage.plan import Cells, Cut, Question
from bocage.schema import Categorical, Schema

ROWS = 10_000_000
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 42)
NAMES = tuple(f"c{i}" for i in range(len(SIZES)))
REPEATS = 3


def run(rows: int = ROWS) -> list[dict[str, Any]]:
    """Rows of name, ours, peer (seconds, or bytes for memory), ratio and target."""
    codes = _codes(rows)
    question = Question(_level(), label="y", columns=NAMES)
    table = _table(codes)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "rows.parquet")
        pq.write_table(table, path, row_group_size=2**19)
        results = [*_in_memory(table, codes, question)]
        del table, codes
        gc.collect()
        return results + _from_parquet(path, question)


def _codes(rows: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(7)
    codes = {}
    for name, size in (*zip(NAMES, SIZES, strict=True), ("y", 2)):
        draws = random.integers(0, size, (2, rows), dtype=np.uint8)
        codes[name] = draws.min(axis=0)  # skewed, as columns of people are
    return codes


def _text(name: str) -> bool:
    return name == "y" or int(name[1:]) % 2 == 0


def _values(name: str, size: int) -> tuple[str, ...]:
    return tuple(f"value {code}" if _text(name) else str(code) for code in range(size))


def _schema() -> Schema:
    columns = [Categorical(name, _values(name, size)) for name, size in zip(NAMES, SIZES, strict=True)]
    return Schema("bench", tuple(columns), Categorical("y", _values("y", 2)))


def _table(codes: dict[str, np.ndarray]) -> pa.Table:
    """Every second column as text, the others as 32-bit integers."""
    columns = {}
    for name, code in codes.items():
        if _text(name):
            words = pa.array(_values(name, int(code.max()) + 1))
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(code), words).cast(pa.string())
        else:
            columns[name] = pa.array(code.astype(np.int32))
    return pa.table(columns)


def _level() -> Cells:
    """A tree of cuts, five deep: 32 cells over eight columns."""
    cells = Cells()
    for depth in range(5):
        splits = {}
        for cell in range(cells.count):
            column = 13 - 2 * depth + cell % 2 if depth else 13
            splits[cell] = Cut(NAMES[column], max(1, SIZES[column] // 3), 0, 1)
        cells = cells.refine(splits)
    return cells


def _best(*works: Any) -> list[float]:
    """The best time of each, measured in turns so that a busy machine is busy for all."""
    best = [float("inf")] * len(works)
    for turn in range(REPEATS + 1):
        for number, work in enumerate(works):
            start = time.perf_counter()
            work()
            if turn:  # the first compiles and warms the caches
                best[number] = min(best[number], time.perf_counter() - start)
    return best


def _in_memory(table: pa.Table, codes: dict[str, np.ndarray], question: Question) -> list[dict[str, Any]]:
    engine = MemoryEngine(table, _schema())
    # The peers get the cell of every row for free; ours finds it as part of its work.
    cell = question.cells.route(codes, table.num_rows).astype(np.uint8)
    label = codes["y"]

    def bincounts() -> list[np.ndarray]:
        return [
            np.bincount((cell.astype(np.intp) * size + codes[name]) * 2 + label, minlength=64 * size)
            for name, size in zip(NAMES, SIZES, strict=True)
        ]

    [tally] = engine.answer([question])
    for name, counts in zip(NAMES, bincounts(), strict=True):
        assert (tally.columns[name].ravel() == counts).all()
    matrix = np.stack([codes[name] for name in NAMES])
    sizes, threads = np.array(SIZES), workers()
    ours, numpy, bare = _best(
        lambda: engine.answer([question]),
        bincounts,
        lambda: _bare(matrix, cell, label, sizes, threads),
    )
    return [
        _row("memory / numpy.bincount loop", ours, numpy, ">= 4"),
        _row(f"memory / bare Numba loop ({threads} threads)", ours, bare, ">= 0.5"),
    ]


@numba.njit(parallel=True)
def _bare(matrix, cell, label, sizes, threads):
    counts = np.zeros((threads, len(sizes), 32 * 64 * 2), np.int64)
    share = (len(cell) + threads - 1) // threads
    for thread in numba.prange(threads):
        for j in range(len(sizes)):
            for i in range(thread * share, min(len(cell), (thread + 1) * share)):
                counts[thread, j, (cell[i] * sizes[j] + matrix[j, i]) * 2 + label[i]] += 1
    return counts.sum(axis=0)


def _from_parquet(path: Path, question: Question) -> list[dict[str, Any]]:
    engine = DuckDBEngine(path, _schema(), keep_bytes=0)  # never from memory
    grown = _growth(path)
    small = DuckDBEngine(_first_thousand(path), _schema())
    [tiny] = _best(lambda: small.answer([Question()]))
    with duckdb.connect() as connection:
        sql = _grouping_sets(path, question)
        ours, peer = _best(lambda: engine.answer([question]), lambda: connection.execute(sql).fetchall())
    return [
        _row("duckdb / GROUPING SETS, from Parquet", ours, peer, ">= 2"),
        {"name": "duckdb, a count of 1,000 rows, warm (s)", "ours": tiny, "peer": 0.003,
         "ratio": 0.003 / tiny, "target": ">= 1"},
        {"name": "duckdb, growth of peak memory (MB)", "ours": grown / 2**20, "peer": 1024.0,
         "ratio": 1024 * 2**20 / max(grown, 1), "target": ">= 1"},
    ]  # fmt: skip


def _first_thousand(path: Path) -> Path:
    small = path.with_name("small.parquet")
    pq.write_table(pq.ParquetFile(path).read_row_group(0).slice(0, 1000), small)
    return small


def _grouping_sets(path: Path, question: Question) -> str:
    """What an analyst would write: the cell as nested CASE, one grouping set per column."""

    def target(index: int) -> str:
        if index < 0:
            return str(~index)
        node = question.cells.nodes[index]
        assert isinstance(node, Cut)
        below = ", ".join(f"'{v}'" for v in _values(node.column, node.threshold))
        test = f"IN ({below})" if _text(node.column) else f"< {node.threshold}"
        return f"CASE WHEN {node.column} {test} THEN {target(node.below)} ELSE {target(node.above)} END"

    sets = ", ".join(f"(cell, y, {name})" for name in NAMES)
    listed = ", ".join(NAMES)
    return (
        f"SELECT cell, y, {listed}, count(*) FROM (SELECT {target(0)} AS cell, y, {listed} "
        f"FROM '{path}') GROUP BY GROUPING SETS ({sets})"
    )


def _growth(path: Path) -> int:
    """By how much a scan in a process of its own raises the peak of its memory."""
    code = "import sys, pathlib, engines; engines.scan(pathlib.Path(sys.argv[1]))"
    here = Path(__file__).parent
    return int(subprocess.check_output([sys.executable, "-c", code, str(path)], cwd=here))


def scan(path: Path) -> None:
    """Print by how many bytes the level question on all rows raises the peak over a small one."""
    question = Question(_level(), label="y", columns=NAMES)
    DuckDBEngine(_first_thousand(path), _schema(), small=-1).answer([question])
    engine = DuckDBEngine(path, _schema(), keep_bytes=0)
    before = _peak()
    engine.answer([question])
    print(_peak() - before)


def _peak() -> int:
    # Not from getrusage: there a child starts with the peak of its parent.
    [line] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(line) * 1024


def _row(name: str, ours: float, peer: float, target: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer / ours, "target": target}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    print(f"{'':42} {'ours':>10} {'peer':>10} {'ratio':>8}  target")
    for r in run(rows):
        print(f"{r['name']:42} {r['ours']:10.4f} {r['peer']:10.4f} {r['ratio']:8.2f}  {r['target']}")


if __name__ == "__main__":
    main()
