"""What was measured, place by place, and what follows from it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import log, sqrt
from statistics import fmean, stdev
from typing import Any

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.schema import Schema


@dataclass(frozen=True)
class Point:
    """One run: a candidate learned from some rows at some epsilon, and how often it was right."""

    candidate: str
    epsilon: str
    rows: int
    source: str
    accuracy: float


@dataclass(frozen=True)
class Place:
    """One candidate at one epsilon and number of rows: mean accuracy over runs, in per cent.

    `spread` is the standard deviation of a single run on rows of one law, `error` that of the mean
    over the runs that were made, `laws` the mean on each law.
    """

    candidate: str
    epsilon: str
    rows: int
    accuracy: float
    spread: float
    error: float
    runs: int
    on_frontier: bool
    laws: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Chart:
    """The map of a schema: accuracy against epsilon against rows (Friedman & Schuster 2010, fig. 2)."""

    schema: str
    public: bool
    places: tuple[Place, ...]

    @classmethod
    def of(cls, schema: Schema, points: Iterable[Point], *, public: bool) -> Chart:
        runs: dict[tuple[str, str, int], dict[str, list[float]]] = {}
        for point in points:
            where = (title(point.candidate), point.epsilon, point.rows)
            runs.setdefault(where, {}).setdefault(point.source, []).append(point.accuracy)
        mean = {where: fmean(fmean(r) for r in laws.values()) for where, laws in runs.items()}
        best: dict[tuple[str, int], float] = {}
        for (_, epsilon, rows), value in mean.items():
            best[epsilon, rows] = max(value, best.get((epsilon, rows), value))
        places = []
        for where, laws in runs.items():
            made = sum(map(len, laws.values()))
            spread = _spread(list(laws.values()))
            told = tuple((law, fmean(values)) for law, values in laws.items())
            top = mean[where] >= best[where[1:]]
            places.append(Place(*where, mean[where], spread, spread / sqrt(made), made, top, told))
        return cls(schema.name, public, tuple(places))

    @property
    def epsilons(self) -> tuple[str, ...]:
        return tuple(sorted({p.epsilon for p in self.places}, key=lambda e: Epsilon.of(e).nano))

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sorted({p.rows for p in self.places}))

    @property
    def candidates(self) -> tuple[str, ...]:
        """By their mean accuracy over the map, the best first."""
        names = {p.candidate for p in self.places}
        mean = {n: fmean(p.accuracy for p in self.places if p.candidate == n) for n in names}
        return tuple(sorted(names, key=lambda n: -mean[n]))

    def at(self, rows: int, epsilon: str) -> list[Place]:
        """The candidates at the place of the map that is nearest, the best first."""
        if not self.places or rows < 1:
            raise LearnerError("the map has no such place.")
        wanted = Epsilon.of(epsilon).nano
        size = min(self.sizes, key=lambda n: abs(log(n / rows)))
        near = min(self.epsilons, key=lambda e: abs(log(Epsilon.of(e).nano / max(wanted, 1))))
        here = [p for p in self.places if p.rows == size and p.epsilon == near]
        return sorted(here, key=lambda p: -p.accuracy)

    def recommend(self, rows: int, epsilon: str) -> str:
        """One sentence: what to take, and what to expect."""
        best = self.at(rows, epsilon)[0]
        kind = "public rows" if self.public else "made-up rows of this schema"
        laws = "; ".join(f"{law} {mean:.0f}" for law, mean in best.laws)
        here = (best.rows, best.epsilon) == (rows, epsilon)
        near = "" if here else f", measured at {best.rows:,} rows and epsilon {best.epsilon}"
        return (
            f"With {rows:,} rows and epsilon {epsilon} take {best.candidate}: expect "
            f"{best.accuracy:.0f} ± {max(2 * best.spread, 1):.0f} % on {kind} ({laws}){near}."
        )

    def to_csv(self) -> str:
        out = io.StringIO()
        names = [name for name in Place.__dataclass_fields__ if name != "laws"]
        writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(place) for place in self.places)
        return out.getvalue()

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "public": self.public,
            "places": [asdict(place) for place in self.places],
        }

    def __rich__(self) -> Any:
        """A table for each number of rows: all of them in one would not fit a screen."""
        from rich.console import Group  # noqa: PLC0415 - rich loads only when drawing
        from rich.table import Table  # noqa: PLC0415 - likewise

        known = {(p.candidate, p.rows, p.epsilon): p for p in self.places}
        tables = []
        for rows in self.sizes:
            words = f"Accuracy in per cent, {self.schema}, {rows:,} rows"
            table = Table(title=words, title_style="bold", title_justify="left")
            table.add_column("learner")
            for epsilon in self.epsilons:
                table.add_column(f"ε {epsilon}", justify="right")
            for name in self.candidates:
                cells = (known.get((name, rows, epsilon)) for epsilon in self.epsilons)
                table.add_row(name, *(_cell(place) for place in cells))
            tables.append(table)
        return Group(*tables)


def _spread(laws: list[list[float]]) -> float:
    """The standard deviation inside the laws, pooled; over all runs where each law ran once."""
    freedom = sum(len(values) - 1 for values in laws)
    if freedom:
        squares = sum(stdev(values) ** 2 * (len(values) - 1) for values in laws if len(values) > 1)
        return sqrt(squares / freedom)
    return stdev([value for (value,) in laws]) if len(laws) > 1 else 0.0


def _cell(place: Place | None) -> str:
    if place is None:
        return ""
    return f"[bold green]{place.accuracy:.1f}[/]" if place.on_frontier else f"{place.accuracy:.1f}"


def title(candidate: str) -> str:
    """A candidate's key in words: 'diffpid3 at depth 3'."""
    learner, parameters = json.loads(candidate)
    told = ", ".join(f"{key} {value}" for key, value in parameters.items())
    return f"{learner} at {told}" if told else str(learner)
