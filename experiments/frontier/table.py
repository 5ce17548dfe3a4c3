"""Eight data sets, four epsilons, our learners and the rivals on the same folds.

Repetition i of a cell is fold i % 10 of cross-validation i // 10. Cells go on until their standard error
is small; of the settings of a rival only the default and the best in hindsight do.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from experiments.common.experiment import Settings
from experiments.common.runner import Cell, Results
from experiments.frontier import rivals
from experiments.frontier.rivals import FOLDS

from bocage.learners import LEARNERS
from bocage.private import study

Setting = dict[str, Any]


def text_of(setting: Setting) -> str:
    """``max_depth=5, n_estimators=10``; what is not set is the rival's default."""
    return ", ".join(f"{name}={value}" for name, value in sorted(setting.items())) or "default"


def setting_of(text: str) -> Setting:
    found: Setting = {}
    for part in text.split(", ") if text != "default" else []:
        name, _, value = part.partition("=")
        found[name] = value if value.isalpha() or "-" in value else json.loads(value)
    return found


def labels_of(data: str) -> int:
    return len(rivals.data_of(data).document["target"]["values"])


def cells(settings: Settings) -> list[Cell]:
    """The first folds of everything that can be run."""
    found = []
    for data in settings["data"]:
        for epsilon in settings["epsilons"]:
            common = {"data": data, "epsilon": epsilon, "seed": settings["seed"]}
            ours = [name for name in settings["ours"] if name in LEARNERS]
            found += [Cell({**common, "method": name}, settings["first"]) for name in ours]
            for rival in settings["rivals"]:
                many = labels_of(data) > rival.get("labels", 99)
                if many or rivals.problem(rival["environment"]):
                    continue
                first = rival.get("few", {}).get(data, settings["first"])
                how = {"method": rival["method"], "environment": rival["environment"]}
                for setting in rival["settings"]:
                    config = {**common, **how, "setting": text_of(setting)}
                    found.append(Cell({**config, "delta": settings["delta"]}, first))
    return found


def more(results: Results, now: list[Cell], settings: Settings) -> list[Cell]:
    """Ten more folds for the cells that need them."""
    by_method = {rival["method"]: rival for rival in settings["rivals"]}
    leading = set(leaders(results, now).values())
    found = []
    for cell in now:
        config = cell.config
        rival = by_method.get(config["method"])
        most = settings["most"]
        if rival is not None:
            most = FOLDS if config["data"] in rival.get("few", {}) else min(most, rival["most"])
            default = config["setting"] == text_of(rival["settings"][0])
            if not default and cell.key not in leading:
                most = 0
        values = results.values(**config)
        wanted = settings["errors"].get(config["data"], settings["error"])
        enough = len(values) < cell.repetitions or results.error(**config) <= wanted
        done = cell.repetitions if enough else max(cell.repetitions, min(most, cell.repetitions + FOLDS))
        found.append(Cell(config, done))
    return found


def leaders(results: Results, now: list[Cell]) -> dict[tuple[str, float, str], str]:
    """The key of the best setting in hindsight, for each data set, epsilon and method."""
    best: dict[tuple[str, float, str], tuple[float, str]] = {}
    for cell in now:
        values = results.values(**cell.config)
        if len(values):
            place = cell.config["data"], cell.config["epsilon"], cell.config["method"]
            best[place] = max(best.get(place, (-1.0, "")), (float(values.mean()), cell.key))
    return {place: key for place, (_, key) in best.items()}


def fold(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Train on nine parts, test on the tenth: accuracy in per cent, CPU seconds of the fit."""
    if "environment" in config:
        return _rival(config, repetition)
    data = rivals.data_of(config["data"])
    parts = rivals.folds_of(config["data"], repetition // FOLDS, config["seed"])
    rows, rest = parts[repetition % FOLDS]
    learner = LEARNERS[config["method"]]()
    training, testing = data.take(rows), data.take(rest)
    begin = time.process_time()
    with study(training, data.schema) as table:
        model = learner.fit(table, config["epsilon"])
    seconds = time.process_time() - begin
    right = np.asarray(model.predict(testing)) == np.array(testing[data.label].to_pylist())
    return {"accuracy": 100 * float(right.mean()), "seconds": seconds}


def _rival(config: dict[str, Any], repetition: int) -> dict[str, float]:
    name, number = config["data"], repetition // FOLDS
    request = {
        "table": str(rivals.table_file(name)),
        "folds": str(rivals.folds_file(name, number, config["seed"])),
        "fold": repetition % FOLDS,
        "setting": setting_of(config["setting"]),
        **{key: config[key] for key in ("method", "epsilon", "delta")},
    }
    found = rivals.ask(rivals.python_of(config["environment"]), request)
    if "error" in found:
        with (rivals.STORE / "errors.txt").open("a", encoding="utf-8") as file:
            file.write(f"{config['method']}, {name}: {found['error']}\n")
        return {"failed": 1.0}
    return {"accuracy": found["accuracy"], "seconds": found["seconds"]}
