"""The configurations of the readable tree that were tried on the development data."""

from __future__ import annotations

from dataclasses import replace

from experiments.frontier.simulation import Leaf, Rule

LEAVES: tuple[Leaf, ...] = (
    ("select", 0.0), ("lean", 1.0), ("lean", 2.0), ("lean", 4.0), ("lean", 8.0), ("stein", 0.5),
    ("prune", 1.0), ("prune-lean", 0.5), ("exact", 0.0),
)  # fmt: skip
FEW: tuple[Leaf, ...] = (("select", 0.0), ("lean", 2.0), ("lean", 4.0), ("stein", 0.5))
BASE = Rule(leaves=LEAVES)
SHARP = replace(BASE, impurity=0.25, leaves=(*FEW, ("lean", 8.0), ("exact", 0.0)))
SHORT = replace(BASE, leaves=FEW)
EDGE = replace(
    BASE, impurity=0.1, leaves=(("select", 0.0), ("lean", 2.0), ("lean", 4.0), ("lean", 8.0))
)
NEW = replace(EDGE, impurity=0.125, slack=2.0)
SWITCH = replace(EDGE, impurity=0.5, impurity_last=0.0, slack=2.0)
CONFIGURATIONS: dict[str, Rule] = {
    "base": BASE,
    "support 3": replace(BASE, support=3),
    "support 6": replace(BASE, support=6),
    "support 12": replace(BASE, support=12),
    "support 20": replace(BASE, support=20),
    "support 60": replace(BASE, support=60),
    "support 12, 16384 leaves": replace(BASE, support=12, leaves_most=16384),
    "structure 0.5": replace(SHORT, structure=0.5),
    "impurity 0": replace(SHORT, impurity=0.0),
    "impurity 0.25": replace(SHORT, impurity=0.25),
    "impurity 0.75": replace(SHORT, impurity=0.75),
    "impurity 1": replace(SHORT, impurity=1.0),
    "rest always": replace(SHORT, rest=1),
    "rest never": replace(SHORT, rest=2),
    "arity cost 0.3": replace(SHORT, arity_cost=0.3),
    "offset 0": replace(SHORT, offset=0.0),
    "slack 2.5": replace(SHORT, slack=2.5),
    "growth 0": replace(SHORT, growth=0.0),
    "growth 0.5": replace(SHORT, growth=0.5),
    "thresholds 16": replace(SHORT, thresholds=16),
    "thresholds 256": replace(SHORT, thresholds=256),
    "count 0.02/epsilon": replace(SHORT, count_at=0.02),
    "sharp": SHARP,
    "sharp, impurity 0.1": replace(SHARP, impurity=0.1),
    "sharp, impurity 0": replace(SHARP, impurity=0.0),
    "sharp, fall 0.3": replace(SHARP, support_fall=0.3, leaves_most=16384.0),
    "sharp, fall 0.5": replace(SHARP, support_fall=0.5, leaves_most=16384.0),
    "sharp, 16384 leaves": replace(SHARP, leaves_most=16384.0),
    "sharp, growth 0": replace(SHARP, growth=0.0),
    "sharp, growth 0.5": replace(SHARP, growth=0.5),
    "sharp, slack 2.5": replace(SHARP, slack=2.5),
    "sharp, offset 0.5": replace(SHARP, offset=0.5),
    "sharp, rest always": replace(SHARP, rest=1),
    "sharp, arity cost 0.3": replace(SHARP, arity_cost=0.3),
    "sharp, thresholds 16": replace(SHARP, thresholds=16),
    "sharp, count 0.02/epsilon": replace(SHARP, count_at=0.02),
    "together 5": replace(SHARP, together=5.0),
    "together 15": replace(SHARP, together=15.0),
    "together 50": replace(SHARP, together=50.0),
    "edge": EDGE,
    "edge, impurity 0.25, last 0": replace(EDGE, impurity=0.25, impurity_last=0.0),
    "edge, impurity 0.5, last 0": replace(EDGE, impurity=0.5, impurity_last=0.0),
    "edge, slack 2": replace(EDGE, slack=2.0),
    "edge, slack 2.5": replace(EDGE, slack=2.5),
    "edge, arity cost 0.3": replace(EDGE, arity_cost=0.3),
    "edge, arity cost 1": replace(EDGE, arity_cost=1.0),
    "edge, structure 0.75": replace(EDGE, structure=0.75),
    "edge, together 30": replace(EDGE, together=30.0),
    "edge, rest always, arity cost 0.3": replace(EDGE, rest=1, arity_cost=0.3),
    "new": NEW,
    "new, 4096 leaves": replace(NEW, leaves_most=4096.0),
    "new, 16384 leaves": replace(NEW, leaves_most=16384.0),
    "new, arity cost 0.3": replace(NEW, arity_cost=0.3),
    "new, structure 0.6": replace(NEW, structure=0.6),
    "new, support 24": replace(NEW, support=24.0),
    "new, support 40": replace(NEW, support=40.0),
    "new, root 1": replace(NEW, root_twice=1.0),
    "new, count 0.02/epsilon": replace(NEW, count_at=0.02),
    "new, together 10": replace(NEW, together=10.0),
    "switch 0": SWITCH,
    "switch 30": replace(SWITCH, impurity_from=30.0),
    "switch 100": replace(SWITCH, impurity_from=100.0),
    "switch 300": replace(SWITCH, impurity_from=300.0),
    "switch 1000": replace(SWITCH, impurity_from=1000.0),
    "switch 100, last 0.125": replace(SWITCH, impurity_from=100.0, impurity_last=0.125),
    "switch 100, impurity 0.75": replace(SWITCH, impurity_from=100.0, impurity=0.75),
    "switch 100, count 0.03/epsilon": replace(SWITCH, impurity_from=100.0, count_at=0.03),
}
