"""What a rule for `auto` would reach, worked out from the curves of its learners; for research only.

A trial is a fit with a share of epsilon, and what is left after it is less epsilon: both are read off the
curves that ``auto_curves.py`` measured (``auto_development.csv``)::

    python -m experiments.frontier.auto_rules
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import log
from pathlib import Path

import numpy as np

EPSILONS = (0.025, 0.05, 0.1, 0.5, 1.0, 2.0)
NAMES = ("readable", "additive", "bayes")
DRAWS = 200  # of the noise of a trial
FILE = Path(__file__).parent / "auto_development.csv"
KEEL = [
    "splice", "chess", "titanic", "monk-2", "german", "crx", "contraceptive", "mammographic",
    "led7digit", "magic", "phoneme", "australian", "segment", "banana", "ring", "twonorm",
    "pima", "vehicle", "wisconsin", "saheart", "breast", "heart", "bands", "bupa", "ionosphere",
    "wdbc", "vowel",
]  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A table at one epsilon: what is public, and the curves of the learners."""

    table: dict[str, str]
    curves: dict[str, dict[str, np.ndarray]]
    epsilon: float

    def __getattr__(self, name: str) -> float:
        return float(self.table[name])

    @property
    def support(self) -> float:
        return 0.97 * self.rows * self.epsilon

    @property
    def signal(self) -> float:
        return self.support / self.parameters

    @property
    def full(self) -> bool:
        return self.combinations <= log(max(self.support / 30, 1e-9))

    def at(self, name: str, share: float = 1.0, what: str = "accuracy") -> float:
        curve = self.curves.get(name)
        if curve is None:
            return 0.0  # too large for this learner
        known = curve[what]
        return float(np.interp(log(self.epsilon * share), np.log(EPSILONS[-len(known) :]), known))

    def tried(self, name: str, share: float, rng: np.random.Generator) -> np.ndarray:
        """Rows that trials predict right; no ladder and no points are tried."""
        name = "tree" if name == "readable" else name
        spread = self.at(name, share, "spread") * rng.normal(size=DRAWS)
        return self.rows * (self.at(name, share) + spread) / 100

    def chosen(
        self, scores: list[np.ndarray], share: float, rng: np.random.Generator
    ) -> np.ndarray:
        """The places that permute-and-flip chooses."""
        noise = rng.exponential(size=(len(scores), DRAWS))
        return (np.stack(scores) * self.epsilon * share + noise).argmax(axis=0)


Rule = Callable[[Cell], str]
Policy = Callable[[Cell, np.random.Generator], float]


def before(cell: Cell) -> str:
    """The rule for trees that grow level by level, without its trials."""
    if cell.labels == 2:
        tables = cell.signal * cell.cells**2 >= 200
    else:
        tables = cell.signal >= cell.frequent * cell.cells**2 / 16
    if cell.full or not tables:
        return "readable"
    return "additive" if cell.signal >= (20 if cell.labels == 2 else 160) else "bayes"


def public(
    least: float = 2400, joint: float = 50, each: float = 8, many: float = 1e9, power: float = 2
) -> Rule:
    """The rule now, without its trials: `each` is for three labels, `many` for more of them."""

    def rule(cell: Cell) -> str:
        if cell.labels == 2:
            tables = cell.signal * cell.cells**power >= least * 3 ** (power - 2)
        else:
            tables = cell.signal >= (each if cell.labels == 3 else many) * cell.frequent
        if cell.full or not tables:
            return "readable"
        enough = cell.labels < 4 and cell.signal >= (joint if cell.labels == 2 else 160)
        return "additive" if enough else "bayes"

    return rule


def plain(rule: Rule) -> Policy:
    return lambda cell, _: cell.at(rule(cell))


@dataclass(frozen=True)
class Shares:
    """Of epsilon for each trial and for the comparison; what tables are given before it."""

    trial: float
    compare: float = 0.02
    given: float = 0.0  # per cent of the rows, over the trial's signal


def trials(
    rule: Rule, names: tuple[str, ...], when: Callable[[Cell], bool], shares: Shares
) -> Policy:
    """Trials of all `names`, the tree first."""

    def policy(cell: Cell, rng: np.random.Generator) -> float:
        if cell.full or not when(cell):
            return cell.at(rule(cell))
        share = shares.trial
        scores = [cell.tried(name, share, rng) for name in names]
        gift = shares.given / (cell.signal * share) / 100 * cell.rows
        raised = [scores[0], *(score + gift for score in scores[1:])]
        places = cell.chosen(raised, shares.compare, rng)
        left = 1 - share * len(names) - shares.compare
        return float(np.array([cell.at(name, left) for name in names])[places].mean())

    return policy


def clear(
    rule: Rule,
    least: float,
    errors: float,
    shares: Shares = Shares(0.03),  # noqa: B008 - frozen
) -> Policy:
    """A tree where tables are due, if its trial has few errors."""

    def policy(cell: Cell, rng: np.random.Generator) -> float:
        due = rule(cell)
        if due == "readable" or cell.support < least:
            return cell.at(due)
        bar = np.full(DRAWS, cell.rows * (1 - errors * (1 - cell.common)))
        places = cell.chosen([cell.tried("readable", shares.trial, rng), bar], shares.compare, rng)
        left = 1 - shares.trial - shares.compare
        return float(np.where(places == 0, cell.at("readable", left), cell.at(due, left)).mean())

    return policy


def compared(least: float, shares: Shares, rule: Rule | None = None) -> Policy:
    """With two labels and so much support the tables that are due are tried beside a tree.

    With less, two labels have a tree, or what another rule says.
    """
    other = clear(rule or public(least=1e9), 3000, 0.3)

    def policy(cell: Cell, rng: np.random.Generator) -> float:
        if cell.full or cell.labels != 2 or cell.support < least:
            return other(cell, rng)
        due = "additive" if cell.signal >= 50 else "bayes"
        gift = shares.given / (cell.signal * shares.trial) / 100 * cell.rows
        scores = [cell.tried(name, shares.trial, rng) for name in ("readable", due)]
        places = cell.chosen([scores[0], scores[1] + gift], shares.compare, rng)
        left = 1 - 2 * shares.trial - shares.compare
        return float(np.where(places == 0, cell.at("readable", left), cell.at(due, left)).mean())

    return policy


def rivals(least: float, shares: Shares, forgiven: float) -> Policy:
    """With two labels and so much support a tree and the tables that are due are tried; the tables are
    forgiven a part of their errors."""
    other = clear(public(), 3000, 0.3)

    def policy(cell: Cell, rng: np.random.Generator) -> float:
        if cell.full or cell.labels != 2 or cell.support < least:
            return other(cell, rng)
        due = "additive" if cell.signal >= 50 else "bayes"
        tree, tables = (cell.tried(name, shares.trial, rng) for name in ("readable", due))
        raised = tables + forgiven * (cell.rows - tables)
        places = cell.chosen([tree, raised], shares.compare, rng)
        left = 1 - 2 * shares.trial - shares.compare
        return float(np.where(places == 0, cell.at("readable", left), cell.at(due, left)).mean())

    return policy


def asked(policy: Policy, shares: tuple[float, float, float], forgiven: float) -> Policy:
    """Tables are tried beside a tree where that is due, with less data; the tree is forgiven a part of its errors."""
    trial, tables, choice = shares

    def more(cell: Cell, rng: np.random.Generator) -> float:
        wide = cell.signal * cell.cells**2
        if (
            cell.full
            or cell.labels != 2
            or not (1000 <= wide < 2400 and 2000 <= cell.support < 5000)
        ):
            return policy(cell, rng)
        due = "additive" if cell.signal >= 50 else "bayes"
        tree = cell.tried("readable", trial, rng)
        raised = tree + forgiven * (cell.rows - tree)
        places = cell.chosen([raised, cell.tried(due, tables, rng)], choice, rng)
        left = 1 - sum(shares)
        return float(np.where(places == 0, cell.at("readable", left), cell.at(due, left)).mean())

    return more


def policies() -> Iterator[tuple[str, Policy]]:
    for name in NAMES:
        yield f"always {name}", plain(lambda _, name=name: name)
    yield "before, without trials", plain(before)
    yield "before, a tree with 0.3 of the errors", clear(before, 3000, 0.3)
    for power, least in product((1, 2), (200, 400, 800, 1000, 1600, 2400, 3200, 6400)):
        words = f"two labels: tables from s c^{power} = {least * 3 ** (power - 2):.4g} on"
        yield words, plain(public(least, power=power))
    for joint in (20, 40, 80, 160):
        yield f"two labels: the additive model from s = {joint} on", plain(public(joint=joint))
    for each in (4, 16, 32, 64, 1e9):
        yield f"three labels: tables from s/h = {each:g} on", plain(public(each=each))
    for least in (8, 16, 32, 64):
        yield f"four labels: counts from s/h = {least:g} on", plain(public(many=least))
    yield "the rule", plain(public())
    yield "earlier: 2400 and 16, a clear tree from 3000 on", clear(public(each=16), 3000, 0.3)
    yield "the rule, a clear tree from 3000 on", clear(public(), 3000, 0.3)
    for least, trial, part in product((2500, 5000, 7000), (0.03, 0.05, 0.08), (0.1, 0.2, 0.3)):
        words = f"two labels from {least} on: tree and tables, {trial:.0%} each, forgiven {part:g}"
        yield words, rivals(least, Shares(trial), part)
    last = rivals(5000, Shares(0.05), 0.3)
    for tables, part in product((0.05, 0.1, 0.15), (0.0, 0.1, 0.2)):
        words = f"the same from 5000 on, tables asked from 2000 on, {tables:.0%}, tree forgiven {part:g}"
        yield words, asked(last, (0.05, tables, 0.02), part)
    for least, trial, given in product(
        (1000, 2000, 3000, 5000), (0.03, 0.05, 0.08), (10, 20, 30, 45)
    ):
        words = (
            f"two labels: tree and tables tried from {least} on, {trial:.0%} each, given {given}"
        )
        yield words, compared(least, Shares(trial, given=given))
    for base in (800, 1000, 1600):
        words = f"the same from 2000 on, 5% each, given 20, and {base} below that"
        yield words, compared(2000, Shares(0.05, given=20), public(least=base))
    yield from with_trials()


def many(least: float) -> Callable[[Cell], bool]:
    return lambda cell: cell.labels > 3 and cell.signal >= least


def two(least: float) -> Callable[[Cell], bool]:
    return lambda cell: cell.labels == 2 and cell.signal >= least


def with_trials() -> Iterator[tuple[str, Policy]]:
    now = public()
    for least, share, names in product((60, 120, 250), (0.05, 0.1), (NAMES, NAMES[::2])):
        words = (
            f"trials of {' and '.join(names)}, {share:.0%} each, many labels from s = {least} on"
        )
        yield f"the rule, {words}", trials(now, names, many(least), Shares(share))
    for least, share, names in product((50, 100, 200), (0.05, 0.1), (NAMES[:2], NAMES[::2])):
        words = f"trials of {' and '.join(names)}, {share:.0%} each, two labels from s = {least} on"
        yield (
            f"800 and 8, {words}",
            trials(public(800), names, two(least), Shares(share)),
        )
    for least, errors in product((1000, 3000, 10_000), (0.1, 0.2, 0.3, 0.4, 0.5)):
        words = f"a tree with {errors:g} of the errors from {least} on"
        yield f"the rule, {words}", clear(now, least, errors)
    yield "the same with 0.3 from 3000 on, 2 % and 1 %", clear(now, 3000, 0.3, Shares(0.02, 0.01))
    yield "the same, 5 % and 2 %", clear(now, 3000, 0.3, Shares(0.05))


def cells() -> list[Cell]:
    tables: dict[str, dict[str, str]] = {}
    curves: dict[str, dict[str, dict[str, np.ndarray]]] = {}
    for row in csv.DictReader(FILE.open(encoding="utf-8")):
        tables[row["data"]] = row
        curves.setdefault(row["data"], {})[row["learner"]] = {
            what: np.array([float(x) for e in EPSILONS if (x := row[f"{what} {e:g}"])])
            for what in ("accuracy", "error", "spread")
        }
    return [Cell(tables[name], curves[name], e) for name in tables for e in EPSILONS[2:]]


def main() -> None:
    found = cells()
    keel = np.array([cell.table["data"] in KEEL for cell in found])
    drawn = np.array([cell.table["data"].startswith("drawn") for cell in found])
    many = np.array([cell.labels > 3 for cell in found])
    best = np.array([max(cell.at(name) for name in NAMES) for cell in found])
    groups = {
        "all": keel | ~keel,
        "keel": keel,
        "made": ~keel & ~drawn,
        "drawn": drawn,
        "many labels": many,
    }
    print("| rule |", " | ".join(f"{name} ({where.sum()})" for name, where in groups.items()), "|")
    print("|---|" + "---|" * len(groups))
    for words, policy in policies():
        rng = np.random.default_rng(0)
        regret = best - np.array([policy(cell, rng) for cell in found])
        columns = (f"{regret[w].mean():.2f}, {(regret[w] > 1).sum()}" for w in groups.values())
        print(f"| {words} |", " | ".join(columns), "|")


if __name__ == "__main__":
    main()
