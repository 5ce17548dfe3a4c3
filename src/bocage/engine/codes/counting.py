"""Counting codes: compiled and on all cores, or in plain NumPy where the table is small."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from bocage.engine.codes.codes import Codes
from bocage.engine.codes.compiled_question import CompiledQuestion, Counters, compile_question
from bocage.engine.reference import holds
from bocage.plan import Question, Tally
from bocage.schema import Schema

BLOCK_BYTES = 2**19  # codes that all questions see while they are in the second-level cache
MOST_PRIVATE = 2**22  # counters of which every thread may have its own


def workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count(codes: Codes, questions: Sequence[Question], schema: Schema) -> list[Tally]:
    """Answer all questions in one pass over the rows."""
    compiled = [compile_question(question, schema, codes.index) for question in questions]
    threads = workers()
    if sum(question.size for question in compiled) <= MOST_PRIVATE:
        edges = np.linspace(0, codes.rows, threads + 1).astype(int).tolist()
        shares = [(compiled, low, high) for low, high in pairwise(edges)]
        results = _parallel(codes, shares, [fresh(compiled) for _ in shares])
        for other in results[1:]:
            add(results[0], other)
        counters = results[0]
    else:  # too large for a copy per thread: each thread counts some of the columns
        counters = fresh(compiled)
        split = [[question.part(i, threads) for question in compiled] for i in range(threads)]
        _parallel(codes, [(part, 0, codes.rows) for part in split], [counters] * threads)
    return tallies(compiled, counters)


def _parallel(
    codes: Codes,
    shares: Sequence[tuple[Sequence[CompiledQuestion], int, int]],
    counters: Sequence[list[Counters]],
) -> list[list[Counters]]:
    def work(number: int) -> None:
        compiled, low, high = shares[number]
        count_rows(codes, compiled, counters[number], low, high)

    # Threads of a question end with it: a process that keeps none can be forked.
    with ThreadPoolExecutor(max(len(shares) - 1, 1)) as pool:
        others = [pool.submit(work, number) for number in range(1, len(shares))]
        work(0)
        for other in others:
            other.result()
    return list(counters)


def count_rows(
    codes: Codes,
    compiled: Iterable[CompiledQuestion],
    counters: Sequence[Counters],
    low: int,
    high: int,
) -> None:
    """Count some of the rows, block by block, for all questions."""
    from bocage.engine.codes import kernels  # noqa: PLC0415 - small tables load no compiler

    compiled = list(compiled)
    read = len({name for question in compiled for name in question.question.reads()})
    block = max(BLOCK_BYTES // max(read, 1) // kernels.STRIP, 1) * kernels.STRIP
    if len(compiled) == 1:
        block = max(high - low, 1)
    for start in range(low, high, block):
        stop = min(start + block, high)
        for question, counter in zip(compiled, counters, strict=True):
            kernels.count(
                codes.narrow, codes.wide, start, stop, question.route, question.walk,
                question.label, question.labels, question.packs, counter.counts,
                question.summed, counter.sums,
            )  # fmt: skip


def fresh(compiled: Iterable[CompiledQuestion]) -> list[Counters]:
    return [question.fresh() for question in compiled]


def add(totals: Sequence[Counters], more: Sequence[Counters]) -> None:
    for total, other in zip(totals, more, strict=True):
        total.add(other)


def tallies(compiled: Sequence[CompiledQuestion], counters: Sequence[Counters]) -> list[Tally]:
    return [question.tally(counter) for question, counter in zip(compiled, counters, strict=True)]


def count_small(codes: Codes, questions: Sequence[Question], schema: Schema) -> list[Tally]:
    """The same numbers without compiled loops, for a few thousand rows."""
    return [_count_small(codes, question, schema) for question in questions]


def _count_small(codes: Codes, question: Question, schema: Schema) -> Tally:
    columns = {name: codes.column(name).astype(np.int64) for name in question.reads()}
    cell = question.cells.route(columns, codes.rows).astype(np.int64)
    chosen = np.flatnonzero((cell >= 0) & holds(question.where, columns, codes.rows))
    cell = cell[chosen]
    labels = question.labels(schema)
    tally = Tally.zeros(question, schema)
    label = columns[question.label][chosen] if question.label is not None else np.int64(0)
    _bincount(cell * labels + label, tally.totals)
    for name, counts in tally.columns.items():
        _bincount((cell * schema[name].cells + columns[name][chosen]) * labels + label, counts)
    for name, sums in tally.sums.items():
        np.add.at(sums, cell, columns[name][chosen])
    return tally


def _bincount(keys: np.ndarray[tuple[int], np.dtype[np.int64]], counts: np.ndarray) -> None:
    counts[...] = np.bincount(keys, minlength=counts.size).reshape(counts.shape)
