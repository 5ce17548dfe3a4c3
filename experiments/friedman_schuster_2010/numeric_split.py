"""Section 5.1.1: one split by a numeric attribute. Figures 4 and 5."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Plot, Report, curves
from experiments.common.runner import Results
from experiments.common.statistics import Difference, paired
from experiments.friedman_schuster_2010.algorithms import OURS_NOTE, PRIVATE, accuracy
from experiments.friedman_schuster_2010.nominal_split import seeds
from experiments.friedman_schuster_2010.synthetic import Domain, Records, sample, single_split

MIXED = Domain(7, 3)


def numeric(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Figure 4: 7 binary and 3 numeric attributes, split at 35, B = 0.1, noise 0.1."""
    train, test = _mixed(config, repetition, p_noise=0.1)
    schema = MIXED.schema(row_cap=5000, cells=1024)
    return {"accuracy": accuracy(config["algorithm"], train, test, schema, depth=1, budget=0.1)}


def binned(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Figure 5: the same without noise in the data, B = 0.2; DiffPID3 gets 10 equal bins."""
    train, test = _mixed(config, repetition, p_noise=0.0)
    bins = 10 if config["algorithm"].startswith("DiffPID3") else None
    schema = MIXED.schema(row_cap=5000, cells=1024, bins=bins)
    return {"accuracy": accuracy(config["algorithm"], train, test, schema, depth=1, budget=0.2, bins=bins)}


def _mixed(config: dict[str, Any], repetition: int, p_noise: float) -> tuple[Records, Records]:
    rng = np.random.default_rng(seeds(config, repetition))
    tree = single_split(int(rng.integers(MIXED.nominal, len(MIXED))), 35.0)
    train = sample(rng, tree, MIXED, config["n"], p_noise)
    return train, sample(rng, tree, MIXED, 10_000)


def figure4(results: Results, settings: Settings, expected: Settings) -> Report:  # noqa: ARG001 - no number is published
    sizes = settings["sizes"]
    large = sizes[-1]
    last = [results.mean(algorithm=f"DiffPC4.5-{c}", n=large) for c in PRIVATE]
    gap = paired(
        results.values(algorithm="DiffPC4.5-Max", n=large),
        results.values(algorithm="DiffPC4.5-InfoGain", n=large),
    )
    threshold = 90.0
    needs = _needed(results, "DiffPC4.5-Max", sizes, threshold)
    return Report(
        "figure4",
        "Figure 4: a single split of a numeric attribute at 35",
        "7 binary and 3 numeric attributes on [0, 100] (1024 grid cells, so that 35 is no grid "
        "edge), B = 0.1, noise 0.1, at most 5000 rows. 65 % is what a guess of the larger class "
        "gets.",
        results,
        claims=[
            Claim(
                "the relation between the scores is similar to the nominal case (Max, Gini, InfoGain)",
                last[0] >= last[1] >= last[2] and gap.mean > 0 and gap.p < 0.05,
                f"at {large}: Max {last[0]:.1f}, Gini {last[1]:.1f}, InfoGain {last[2]:.1f}; Max − InfoGain {gap}",
            ),
            Claim(
                "more samples are required to identify the split point than a nominal split",
                needs > settings["nominal_needs"],
                f"Max passes {threshold:.0f} % first at n = {needs:g}; with binary attributes "
                f"(table 1) at {settings['nominal_needs']}",
            ),
        ],
        plots=[
            Plot(
                "figure4",
                "Figure 4: single split, numeric attribute (B = 0.1, noise 0.1)",
                "training records",
                "accuracy, %",
                curves(results, settings["algorithms"], "n", sizes),
            )
        ],
        notes=[OURS_NOTE],
    )


def _needed(results: Results, name: str, sizes: list[int], threshold: float) -> float:
    reached = [n for n in sizes if results.mean(algorithm=name, n=n) >= threshold]
    return reached[0] if reached else float("inf")


def figure5(results: Results, settings: Settings, expected: Settings) -> Report:  # noqa: ARG001 - no number is published
    sizes = settings["sizes"]
    large = sizes[-1]

    def gap(n: int) -> Difference:
        return paired(
            results.values(algorithm="DiffPC4.5-Max", n=n),
            results.values(algorithm="DiffPID3-Max", n=n),
        )

    gaps = {n: gap(n) for n in sizes}
    for_bins = [n for n, g in gaps.items() if g.mean < 0 and g.p < 0.05]
    for_points = [n for n, g in gaps.items() if g.mean > 0 and g.p < 0.05]
    early = [n for n in for_points if for_bins and n < max(for_bins)]
    bins = results.mean(algorithm="DiffPID3-Max", n=large)
    return Report(
        "figure5",
        "Figure 5: numeric split points against ten bins",
        "As in figure 4 without noise in the data, B = 0.2. DiffPID3 sees the numeric attributes "
        "in 10 equal bins; the split point 35 lies in the middle of one.",
        results,
        claims=[
            Claim(
                "for smaller training sets, discretizing allows for better accuracy",
                bool(for_bins) and for_bins[0] < large,
                "DiffPC4.5-Max − bins: " + "; ".join(f"at {n}: {gaps[n]}" for n in for_bins),
                "by the stopping rule a split into ten bins needs √2·10·2/0.05 = 566 records, so that "
                "DiffPID3 has a single leaf there"
                if early
                else "",
                "; ".join(f"at {n}: {gaps[n]}" for n in early),
            ),
            Claim(
                "for larger training sets, split points are determined better than by bins",
                large in for_points,
                "; ".join(f"at {n}: {gaps[n]}" for n in for_points if n not in early),
            ),
            Claim(
                "bins that mismatch the split point reduce the accuracy (95 % is their limit)",
                bins <= 95.5,
                f"DiffPID3-Max with bins at {large}: {bins:.1f}",
            ),
        ],
        plots=[
            Plot(
                "figure5",
                "Figure 5: numeric split against 10 bins (B = 0.2, no noise)",
                "training records",
                "accuracy, %",
                curves(results, settings["algorithms"], "n", sizes),
            )
        ],
        notes=[OURS_NOTE],
    )
