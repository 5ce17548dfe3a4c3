"""What noise on single columns does not hide: attacks on correlated columns and on bounded noise.

Not in the paper. Kargupta, Datta, Wang & Sivakumar (2003) filter independent noise out of correlated
columns by the spectrum of their covariance; Huang, Du & Chen (2005) do it by principal components. The
attacker knows what is public, the survey, and what was sent, and no record.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report
from experiments.common.runner import Cell, Results

from bocage.local import Distortion, Gaussian, Laplace, Uniform
from bocage.schema import Numeric

NOISES: dict[str, type[Uniform | Gaussian | Laplace]] = {
    "uniform": Uniform,
    "gaussian": Gaussian,
    "laplace": Laplace,
}
COLUMN = Numeric("x", 0, 1000, 1000)  # type: ignore[arg-type] # it makes them exact
CONFIDENCE = 0.95
TENTH = 0.1


def cells(settings: Settings) -> list[Cell]:
    common = {"seed": settings["seed"], "records": settings["records"]}
    filtered = [
        {**common, "noise": n, "columns": settings["columns"], "correlation": c}
        for n in settings["noises"]
        for c in settings["correlations"]
    ]
    pinned = [{**common, "noise": "uniform", "level": level} for level in settings["levels"]]
    return [Cell(config, settings["runs"]) for config in filtered + pinned]


def once(config: dict[str, Any], repetition: int) -> dict[str, float]:
    rng = np.random.default_rng([config["seed"], repetition])
    if "level" in config:
        return pinned(config, rng)
    return filtered(config, rng)


def filtered(config: dict[str, Any], rng: np.random.Generator) -> dict[str, float]:
    """Columns with one common factor, 100 % privacy each; the attacker projects on the factor.

    The width that holds 95 % of the attacker's errors, as part of the promised width (the range).
    """
    d, correlation = config["columns"], config["correlation"]
    common = rng.standard_normal((config["records"], 1))
    own = rng.standard_normal((config["records"], d))
    values = 500 + 150 * (sqrt(correlation) * common + sqrt(1 - correlation) * own)
    codes = np.clip(values, 0, 999).astype(np.int64)
    noise = NOISES[config["noise"]].of_privacy(COLUMN, 100)
    sent = np.stack([noise.distort(COLUMN, codes[:, j]) for j in range(d)], axis=1)
    guess = filter_noise(sent.astype(float), noise)
    return {
        "naive width": width(sent - codes) / COLUMN.cells,
        "filtered width": width(guess - codes) / COLUMN.cells,
    }


def filter_noise(sent: np.ndarray, noise: Distortion) -> np.ndarray:
    """The best linear guess: covariances of what was sent, less those of the noise.

    Directions in which there is no more variance than the noise has are dropped: what remains are the
    principal components of the true columns.
    """
    mean = sent.mean(axis=0)
    covariance = np.cov(sent.T)
    sizes, directions = np.linalg.eigh(covariance)
    signal = np.maximum(sizes - noise_variance(noise), 0)
    shrunk = directions * (signal / sizes) @ directions.T
    return mean + (sent - mean) @ shrunk


def noise_variance(noise: Distortion) -> float:
    """The variance that the noise adds to a value in the middle of the range: public."""
    kernel = noise.kernel(COLUMN, [500, 501])[0]
    codes = np.array(noise.outputs(COLUMN))
    return float((kernel * (codes - 500.0) ** 2).sum())


def width(errors: np.ndarray) -> float:
    low, high = np.quantile(errors, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(high - low)


def pinned(config: dict[str, Any], rng: np.random.Generator) -> dict[str, float]:
    """Values uniform on the range, uniform noise: how many people the answer pins to a tenth of it."""
    noise = Uniform.of_privacy(COLUMN, config["level"])
    codes = rng.integers(0, COLUMN.cells, config["records"])
    sent = noise.distort(COLUMN, codes)
    low = np.maximum(sent - noise.alpha, 0)
    high = np.minimum(sent + noise.alpha, COLUMN.cells - 1)
    assert ((low <= codes) & (codes <= high)).all()  # the attacker is never wrong
    possible = (high - low + 1) / COLUMN.cells
    return {
        "pinned": 100 * float((possible <= TENTH).mean()),
        "formula": 100 * TENTH**2 * COLUMN.cells / (2 * noise.alpha),
    }


def report(results: Results, settings: Settings, expected: Settings) -> Report:  # noqa: ARG001 - nothing is published
    correlations, levels = settings["correlations"], settings["levels"]

    def curve(label: str, metric: str, noise: str, *, dashed: bool = False) -> Curve:
        return Curve(
            label,
            correlations,
            [100 * results.mean(metric, noise=noise, correlation=c) for c in correlations],
            dashed=dashed,
        )

    claims = [
        Claim(
            f"100 % privacy of every column survives when columns have correlation {top:g} ({noise})",
            after > 0.9 * before,
            f"95 % of the attacker's errors lie in {100 * before:.0f} % of the range before and in "
            f"{100 * after:.0f} % after filtering",
        )
        for noise in settings["noises"]
        for top in (correlations[-1],)
        for before in (results.mean("naive width", noise=noise, correlation=top),)
        for after in (results.mean("filtered width", noise=noise, correlation=top),)
    ]
    claims += [
        Claim(
            f"uniform noise of {level} % privacy pins nobody to a tenth of the range",
            results.mean("pinned", level=level) < 0.01,
            f"{results.mean('pinned', level=level):.2f} % of the people, for certain; "
            f"the formula says {results.mean('formula', level=level):.2f} %",
        )
        for level in levels
    ]
    plots = [
        Plot(
            "attacks-filter",
            "Nine columns, 100 % privacy each: what is left after filtering",
            "correlation of the columns",
            "width of 95 % of the errors, % of the range",
            [
                *(curve(noise, "filtered width", noise) for noise in settings["noises"]),
                *(
                    curve(f"{noise} (without attack)", "naive width", noise, dashed=True)
                    for noise in settings["noises"]
                ),
            ],
        ),
        Plot(
            "attacks-pinned",
            "People whom bounded noise pins to a tenth of the range",
            "privacy of uniform noise, %",
            "people, %",
            [
                Curve("measured", levels, [results.mean("pinned", level=lv) for lv in levels]),
                Curve(
                    "formula",
                    levels,
                    [results.mean("formula", level=lv) for lv in levels],
                    dashed=True,
                ),
            ],
        ),
    ]
    return Report(
        "attacks",
        "Attacks: correlated columns, and bounded noise",
        f"{settings['records']:,} people. Above: {settings['columns']} columns with one common "
        "factor, each with 100 % privacy at 95 % confidence, and an attacker who knows the survey "
        "only. Below: uniform values with uniform noise. The sentences are what a reader might "
        "believe; where they are false, the attack works.",
        results,
        claims=claims,
        plots=plots,
        metrics=("naive width", "filtered width", "pinned", "formula"),
    )
