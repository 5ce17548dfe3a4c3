"""Section 3, figure 2: two shapes, two noises, and what comes back out of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Cell, Results

from bocage.local import Gaussian, Uniform, reconstruct
from bocage.local.intervals import partition
from bocage.schema import Numeric

COLUMN = Numeric("x", -1, 1, 2000)  # type: ignore[arg-type] # it makes them exact
INTERVALS = 40  # of width 0.05
NOISES = {"gaussian": Gaussian("250"), "uniform": Uniform(500)}  # type: ignore[arg-type] # 0.25; ± 0.5
EXPLAINED = {
    "randomized": "the shapes are read off the plots; answers outside the domain count as distance here",
    "reconstructed": "the shapes are read off the plots",
}
KINDS = ("original", "randomized", "reconstructed")


def cells(settings: Settings) -> list[Cell]:
    return [
        Cell(
            {"seed": settings["seed"], "shape": s, "noise": n, "records": settings["records"]},
            settings["runs"],
        )
        for s in settings["shapes"]
        for n in settings["noises"]
    ]


def draw(shape: str, rng: np.random.Generator, records: int) -> np.ndarray:
    """A plateau from -0.5 to 0.5, or two triangles around -0.5 and 0.5, as the figure shows them."""
    if shape == "plateau":
        return rng.uniform(-0.5, 0.5, records)
    return rng.choice([-0.5, 0.5], records) + rng.triangular(-0.4, 0, 0.4, records)


def once(config: dict[str, Any], repetition: int) -> dict[str, Any]:
    """Distances from the original, and the densities that are drawn."""
    rng = np.random.default_rng([config["seed"], repetition])
    x = draw(config["shape"], rng, config["records"])
    codes = ((x + 1) * COLUMN.cells / 2).astype(np.int64)
    noise = NOISES[config["noise"]]
    sent = noise.distort(COLUMN, codes)
    parts = partition(COLUMN, noise, INTERVALS)
    place = parts.place[sent - noise.outputs(COLUMN).start]
    found = reconstruct(np.bincount(place, minlength=parts.answers), parts.kernel)
    original = np.histogram(codes, parts.edges)[0] / len(codes)
    randomized = np.histogram(sent, parts.edges)[0] / len(codes)
    outside = 1 - randomized.sum()
    return {
        "randomized": float((np.abs(randomized - original).sum() + outside) / 2),
        "reconstructed": float(np.abs(found.shares[0] - original).sum() / 2),
        "steps": int(found.steps[0]),
        "original density": original.tolist(),
        "randomized density": randomized.tolist(),
        "reconstructed density": found.shares[0].tolist(),
    }


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    targets, claims, plots = [], [], []
    middle = (np.arange(INTERVALS) + 0.5) * 2 / INTERVALS - 1
    for letter, (noise, shape) in zip(
        "abcd", [(n, s) for n in settings["noises"] for s in settings["shapes"]], strict=True
    ):
        cell = {"shape": shape, "noise": noise}
        targets += [
            Target(
                f"{shape}, {noise}: {kind}, distance in %",
                100 * expected["reference"][f"{shape}, {noise}"][kind],
                100 * results.mean(kind, **cell),
                100 * results.error(kind, **cell),
                100 * expected["tolerance"],
                EXPLAINED[kind],
            )
            for kind in KINDS[1:]
        ]
        gaps = results.values("randomized", **cell) - results.values("reconstructed", **cell)
        claims.append(
            Claim(
                "the original shape can be picked out although the randomized version looks nothing "
                f"like it ({shape}, {noise} noise)",
                bool((gaps > 0).all()),
                f"distance {100 * results.mean('randomized', **cell):.0f} % as sent, "
                f"{100 * results.mean('reconstructed', **cell):.0f} % reconstructed, after "
                f"{results.mean('steps', **cell):.0f} steps",
            )
        )
        densities = {kind: results.values(f"{kind} density", **cell)[0] for kind in KINDS}
        plots.append(
            Plot(
                f"figure2{letter}",
                f"Figure 2({letter}): {shape}, {noise} noise",
                "value",
                "share of records per 0.05",
                [Curve(kind, middle, density) for kind, density in densities.items()],
            )
        )
    return Report(
        "figure2",
        "Figure 2: reconstructing the original distribution",
        f"{settings['records']:,} records on [-1, 1], 40 intervals of width 0.05; Gaussian noise of "
        "deviation 0.25, uniform noise between -0.5 and 0.5. The distance is the total variation "
        "distance from the original in percent; where the paper is silent, the shapes are read off "
        "its plots; the reference is what an independent program obtained. The paper drew discrete uniform noise, for "
        "which distances of mid-points are exact; "
        "ours is fine, and the kernel is integrated over the intervals.",
        results,
        against="reference",
        targets=targets,
        claims=claims,
        plots=plots,
        metrics=("randomized", "reconstructed", "steps"),
    )
