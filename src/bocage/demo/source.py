"""The last chapter: nobody is trusted, and every person distorts their own record."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from bocage.demo.screen import chapter, columns, show
from bocage.local import Clear, Laplace, Records, Survey, distributions, generator

PEOPLE, PRIVACY = 20_000, 100
INTERVALS, BAR = 12, 20


def distort_at_the_source(screen: Console, title: str) -> None:
    """Distort one column of the made-up people of Agrawal & Srikant, and reconstruct it."""
    schema = generator.schema()
    rows = generator.generate(PEOPLE, function=1, seed=1)
    noise = {a.name: Laplace.of_privacy(a, PRIVACY) for a in schema.attributes}
    survey = Survey(schema, {**noise, generator.LABEL: Clear()})
    epsilon = survey.privacy()[2].epsilon
    chapter(
        screen,
        title,
        f"{PEOPLE:,} other people add Laplace noise to their answers before they send them: epsilon "
        f"{float(epsilon or 0):.2f} for an age, and nobody ever has the true one. Those of group B are "
        "between 40 and 60. What was sent hides it, and the distribution can be reconstructed:",
    )
    records = Records.distort(survey, rows)
    _, estimate = distributions(records, ["age"], intervals=INTERVALS, by_label=True)
    true = np.histogram(rows["age"][rows[generator.LABEL] == "B"], INTERVALS, (20, 80))[0]
    shares = true / true.sum()
    shown = columns("age", "true", "sent", "reconstructed", "", numbers=(1, 2, 3))
    for at in range(INTERVALS):
        bar = "█" * round(BAR * estimate.shares[at] / estimate.shares.max())
        shown.add_row(
            estimate.text(at),
            Text(f"{100 * shares[at]:.0f} %", style="dim"),
            f"{100 * estimate.sent[at]:.0f} %",
            Text(f"{100 * estimate.shares[at]:.0f} %", style="bold green"),
            Text(bar, style="green"),
        )
    show(screen, shown)
    screen.print("\nTrees grow from such records too: see bocage local --help.")
