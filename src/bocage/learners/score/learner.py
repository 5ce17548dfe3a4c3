"""A scorecard: a few points for what is known of a record, and a threshold.

What Ustun & Rudin (2016) call a scoring system, learned by one exponential mechanism among all of
them: small whole points are so few that the best of them are found with little epsilon, where
fitted scores of real numbers drown in their noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.discretization import Spreads, count_spreads
from bocage.learners.plan import Plan, Step
from bocage.learners.score.models import counted_additive_of
from bocage.learners.score.rule import CELLS, scorecards_of
from bocage.model import AdditiveModel
from bocage.private import (
    Count,
    DrawnScores,
    EpsilonLike,
    PrivateTable,
    Scorecards,
    capabilities,
)
from bocage.private.capabilities import Capability
from bocage.private.joint.score.family import MOST_CARD_CELLS
from bocage.schema import Numeric, Schema

SIZE, POINTS = "number of rows", "points, after numeric attributes are cut, and what they are worth"
COUNTED = 1000  # records times epsilon from which on ...
COUNTING = (19, 1)  # ... a part of epsilon counts rows by their points


@dataclass(frozen=True)
class Scorecard(Learner):
    """Points of some attributes that add up, and the label that a sum of them stands for.

    Parameters
    ----------
    attributes
        Those that may give points; None for all.

    Privacy
    -------
    5 % of epsilon pay for the number of rows (sensitivity 1, discrete Laplace). Which scorecards
    there are follows from it, the schema and epsilon. Where the number of rows allows it, 2 to 5 %
    of the rest pay for counts of numeric attributes without labels, and 2 to 10 % each for one or
    two more rounds if there are uneven ones, which are cut by these; see
    :func:`~bocage.learners.discretization.count_spreads`. One exponential mechanism draws a
    scorecard by how many rows it predicts right (monotone, range 1), see
    :class:`~bocage.private.joint.score.sampler.DrawnScores`. With 1000 records times epsilon or
    more, 5 % of what is left count the rows by points and label (discrete Laplace, sensitivity 1),
    for probabilities. Sequential composition of all of these.
    """

    name: ClassVar[str] = "scorecard"
    paper: ClassVar[str] = "Bocage, after Ustun & Rudin 2016 and McSherry & Talwar 2007"
    numeric: ClassVar[bool] = True
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        self.scorecards(schema, 1, 1.0, Spreads())
        budget = budget_of(epsilon, 400, self.name)
        size, rest = budget.split([1, 19])
        steps = (
            Step(0, SIZE, "discrete Laplace", size),
            Step(0, POINTS, "exponential, discrete Laplace", rest),
        )
        return Plan(self.name, budget, steps)

    def scorecards(self, schema: Schema, rows: int, epsilon: float, spreads: Spreads) -> Scorecards:
        """Those that are drawn among, or a refusal."""
        scorecards = scorecards_of(schema, self.check(schema), rows, epsilon, spreads)
        if scorecards is None:
            raise LearnerError(f"{self.name} needs an attribute of 2 to {MOST_CARD_CELLS} values, or a numeric one.")
        return scorecards

    def requires(self, schema: Schema) -> tuple[Capability, ...]:  # noqa: ARG002 - whatever it declares
        return (capabilities.draws_by_rejection,)

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> AdditiveModel:
        plan = self.plan(table.schema, epsilon)
        schema, label = table.schema, label_of(table.schema).name
        start = self.reserve(table, plan)
        progress(0, 3)
        rows, left = max(int(start.ask(Count(plan.share(0, SIZE)))[0]), 1), plan.share(0, POINTS)
        columns = [schema[name] for name in self.check(schema)]
        coarse = [c for c in columns if isinstance(c, Numeric) and c.cells > CELLS]
        spreads, left = count_spreads(start, coarse, rows, left, laplace=True)
        progress(1, 3)
        scorecards = self.scorecards(schema, rows, float(left), spreads)
        spare: Epsilon | None = None
        if rows * float(left) >= COUNTED:
            left, spare = left.split(COUNTING)
        card = start.fit(DrawnScores(label, left, scorecards))
        progress(2, 3)
        model = counted_additive_of(start, card, spare, self.certificate(start))
        progress(3, 3)
        return self.certified(model, start)
