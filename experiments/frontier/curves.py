"""How accurate the learners are on the development tables, by epsilon: what the choice among them rests on.

::

    python -m experiments.frontier.curves --keel PATH --out FILE --learner readable [--learner additive]
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from experiments.common.data import folds
from experiments.frontier.bayes_simulation import tables_of
from experiments.frontier.simulation import Data

from bocage.learners import LEARNERS
from bocage.private import study
from bocage.schema import Categorical, Numeric, Schema

FIELDS = ("data", "learner", "epsilon", "mean", "se", "folds", "seconds")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
FEW, MANY = 3, 12  # folds of tables with more rows than SMALL, and of the others
SMALL = 3500


def schema_of(data: Data) -> Schema:
    """Codes as values; numeric columns on their grid."""
    columns = tuple(
        Numeric(f"a{i}", 0, arity, arity) if numeric else Categorical(f"a{i}", _texts(arity))
        for i, (arity, numeric) in enumerate(zip(data.arity, data.numeric, strict=True))
    )
    return Schema(data.name, columns, Categorical("y", _texts(data.classes)))


def rows_of(data: Data, rows: np.ndarray) -> pa.Table:
    made: dict[str, pa.Array] = {}
    for i, (arity, numeric) in enumerate(zip(data.arity, data.numeric, strict=True)):
        codes = data.codes[rows, i]
        made[f"a{i}"] = pa.array(codes + 0.5) if numeric else _dictionary(codes, arity)
    return pa.table(made | {"y": _dictionary(data.labels[rows], data.classes)})


def _texts(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _dictionary(codes: np.ndarray, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(_texts(count)))


def measure(data: Data, learner: str, epsilon: float, count: int) -> tuple[float, float, float]:
    """Mean accuracy in per cent, its standard error, and seconds of a fit."""
    schema, right, spent = schema_of(data), [], 0.0
    every = [pair for r in range(-(-count // 10)) for pair in folds(data.labels, 10, r, 6)]
    for train, test in every[:count]:
        with study(rows_of(data, train), schema) as table:
            begin = time.process_time()
            model = LEARNERS[learner]().fit(table, epsilon)
            spent += time.process_time() - begin
        found = np.asarray(model.predict(rows_of(data, test))).astype(int)
        right.append(100 * float(np.mean(found == data.labels[test])))
    return float(np.mean(right)), float(np.std(right, ddof=1)) / count**0.5, spent / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--learner", action="append", required=True)
    parser.add_argument("--epsilon", action="append", type=float)
    parser.add_argument("--only", action="append", help="this table (repeatable)")
    parser.add_argument("--skip", action="append", default=[], help="not this table")
    parser.add_argument("--folds", type=int, default=0, help="0 for 3, and 12 of small tables")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        for data in tables_of(given.keel):
            if data.name in given.skip or (given.only and data.name not in given.only):
                continue
            count = given.folds or (MANY if len(data.labels) < SMALL else FEW)
            for learner in given.learner:
                for epsilon in given.epsilon or EPSILONS:
                    mean, se, seconds = measure(data, learner, epsilon, count)
                    facts = (f"{mean:.2f}", f"{se:.2f}", count, f"{seconds:.3f}")
                    writer.writerow((data.name, learner, epsilon, *facts))
                file.flush()


if __name__ == "__main__":
    main()
