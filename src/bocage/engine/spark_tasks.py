"""What Spark's workers do: read pieces of files, encode, count, hash. All of it ends in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bocage.engine.codes.codes import Codes, Encoder
from bocage.engine.codes.compiled_question import CompiledQuestion, Counters, compile_question
from bocage.engine.codes.counting import count_rows, fresh
from bocage.engine.codes.encode import encoder
from bocage.engine.rows import listed, to_bytes
from bocage.plan import Question
from bocage.schema import Schema

BATCH = 2**16
Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True)
class Piece:
    """Some rows of a row group, in a file as it was when it was opened."""

    path: str
    identity: tuple[int, int, int]
    group: int
    rows: int


def identity_of(path: str) -> tuple[int, int, int]:
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def compiled_questions(schema: Schema, questions: Sequence[Question], names: Sequence[str]) -> list[CompiledQuestion]:
    index = Encoder(schema, dict.fromkeys(names, _nothing)).index
    return [compile_question(question, schema, index) for question in questions]


def _nothing(*_: Any) -> None:
    """Stands for an encoder where only the order of the columns matters."""


def read_and_work(
    ids: Batches,
    *,
    work: Callable[[Batches], Batches],
    pieces: Sequence[Piece],
    names: Sequence[str],
    texts: Sequence[str],
) -> Batches:
    chosen = [pieces[i] for batch in ids for i in batch.column(0).to_pylist()]
    return work(read(chosen, names, texts))


def digests(ids: Batches, *, files: Sequence[tuple[str, tuple[int, int, int]]]) -> Batches:
    """Hashes of the files with these numbers."""
    for batch in ids:
        for number in batch.column(0).to_pylist():
            path, identity = files[number]
            with open(path, "rb") as file:  # noqa: PTH123 - runs in a worker, kept plain
                digest = file_digest(file, "sha256").hexdigest()
            _check_identity(path, identity)
            yield pa.RecordBatch.from_pydict({"number": [number], "digest": [digest]})


def _check_identity(path: str, identity: tuple[int, int, int]) -> None:
    if identity_of(path) != identity:
        raise OSError("a file changed while it was read")


def read(pieces: Sequence[Piece], names: Sequence[str], texts: Sequence[str]) -> Batches:
    for piece in pieces:
        left = piece.rows
        with pq.ParquetFile(piece.path, read_dictionary=list(texts), memory_map=True) as file:
            for batch in file.iter_batches(BATCH, row_groups=[piece.group], columns=list(names), use_threads=False):
                yield batch.select(list(names)).slice(0, left)
                left = max(left - batch.num_rows, 0)
        _check_identity(piece.path, piece.identity)


def count(batches: Batches, *, schema: Schema, questions: Sequence[Question], names: Sequence[str]) -> Batches:
    """Count batches of these columns; yield the counters that are not 0, and the number of rows."""
    compiled = compiled_questions(schema, questions, names)
    counters = fresh(compiled)
    rows = 0
    for codes, read in _encoded(batches, schema, names):
        count_rows(codes, compiled, counters, 0, codes.rows)
        rows += read
    flat = np.concatenate([[rows], *(part.ravel() for part in _parts(counters))]).astype(np.int64)
    position = np.flatnonzero(flat)
    yield pa.RecordBatch.from_arrays([pa.array(position, pa.int64()), pa.array(flat[position])], ["position", "count"])


def list_rows(batches: Batches, *, schema: Schema, question: Question, names: Sequence[str]) -> Batches:
    """For each batch the number of rows read, and the codes asked for as bytes."""
    for codes, read in _encoded(batches, schema, names):
        content = to_bytes(listed(codes, question))
        yield pa.RecordBatch.from_arrays(
            [pa.array([read], pa.int64()), pa.array([content], pa.binary())], ["rows", "codes"]
        )


def _encoded(batches: Batches, schema: Schema, names: Sequence[str]) -> Iterator[tuple[Codes, int]]:
    encoders: dict[tuple[pa.DataType, ...], Encoder] = {}
    for batch in batches:
        columns = dict(zip(names, batch.columns, strict=True))
        kinds = tuple(array.type for array in batch.columns)
        if kinds not in encoders:
            by_name = zip(names, kinds, strict=True)
            encoders[kinds] = Encoder(schema, {n: encoder(schema[n], kind) for n, kind in by_name})
        yield encoders[kinds].encode(columns, batch.num_rows), batch.num_rows


def gather(counted: pa.Table, counters: list[Counters]) -> int:
    """Add what the tasks counted; return the number of rows that they saw."""
    parts = _parts(counters)
    flat = np.zeros(1 + sum(part.size for part in parts), np.int64)
    np.add.at(flat, counted["position"].to_numpy(), counted["count"].to_numpy())
    start = 1
    for part in parts:
        part[...] = flat[start : start + part.size].reshape(part.shape)
        start += part.size
    return int(flat[0])


def _parts(counters: Iterable[Counters]) -> list[Any]:
    return [part for counter in counters for part in (counter.counts, counter.sums)]
