"""The questions that a private table and a partition of it have in common."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from bocage.accounting import Account
from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Selection
from bocage.private.answer import Answer
from bocage.private.choose import Candidate, Choose, Mode
from bocage.private.count import Count, Counts
from bocage.private.criteria import Criterion, criterion_named
from bocage.private.executor import Executor
from bocage.private.quantile import Quantile, quantile_level
from bocage.private.query import Place, Query
from bocage.private.sums import Average, Sum
from bocage.schema import Schema

EpsilonLike = Epsilon | Decimal | Fraction | float | str


class Askable:
    """Asks for all cells of one place at once: one scan, one charge.

    The cells are disjoint, so that one epsilon pays for all of them (parallel composition).
    Every method takes the epsilon that is charged, and `fresh=True` to pay for new noise where the
    same question was asked before; otherwise the stored answer comes back free.
    """

    def __init__(self, executor: Executor, account: Account, place: Place) -> None:
        self._executor, self._account, self._place = executor, account, place

    @property
    def schema(self) -> Schema:
        """The public schema of the table."""
        return self._executor.terms.schema

    @property
    def has_ledger(self) -> bool:
        """Whether charges are kept in a ledger; if not, the table is for study only."""
        return self._executor.has_ledger

    def noisy_count(self, epsilon: EpsilonLike, *, fresh: bool = False) -> Answer:
        """Release the number of rows, with discrete Laplace noise.

        Privacy
        -------
        Sensitivity 1 under add/remove. Charges `epsilon` before counting.
        """
        return self._ask(Count(Epsilon.of(epsilon)), fresh)

    def noisy_counts(self, by: str | Sequence[str], epsilon: EpsilonLike, *, fresh: bool = False) -> Answer:
        """Release the number of rows for each value of a column, or of two columns jointly.

        Privacy
        -------
        Sensitivity 1 under add/remove for all counts together. Charges `epsilon` before counting.
        """
        columns = (by,) if isinstance(by, str) else tuple(by)
        if not 1 <= len(columns) <= 2 or len(set(columns)) < len(columns):
            raise PlanError("noisy_counts takes one or two different columns; partition for more.")
        return self._ask(Counts(columns, Epsilon.of(epsilon)), fresh)

    def noisy_sum(self, column: str, epsilon: EpsilonLike, *, fresh: bool = False) -> Answer:
        """Release the sum of a numeric column.

        Privacy
        -------
        Sensitivity: the larger bound in size, on the grid. Charges `epsilon` before reading.
        """
        return self._ask(Sum(column, Epsilon.of(epsilon)), fresh)

    def noisy_avg(self, column: str, epsilon: EpsilonLike, *, fresh: bool = False) -> Answer:
        """Release the average of a numeric column; `epsilon` pays for its sum and its count.

        Privacy
        -------
        Half for the centered sum, half for the count. Charges `epsilon` before reading.
        """
        return self._ask(Average(column, Epsilon.of(epsilon)), fresh)

    def noisy_quantile(
        self,
        column: str,
        epsilon: EpsilonLike,
        *,
        level: Fraction | float | str = "0.5",
        fresh: bool = False,
    ) -> Answer:
        """Release a quantile of a numeric column, the median by default, with its interval.

        Privacy
        -------
        Half for one selection by the exponential mechanism, half for counts around the chosen value.
        Charges `epsilon` before reading.
        """
        return self._ask(Quantile(column, quantile_level(level), Epsilon.of(epsilon)), fresh)

    def noisy_mode(
        self,
        column: str,
        epsilon: EpsilonLike,
        *,
        selection: Selection | str = Selection.PERMUTE_AND_FLIP,
        fresh: bool = False,
    ) -> Answer:
        """Release the most frequent value of a column.

        Privacy
        -------
        Monotone score of range 1. Charges `epsilon` before counting.
        """
        return self._ask(Mode(column, _selection(selection), Epsilon.of(epsilon)), fresh)

    def choose(
        self,
        among: Sequence[str] | Sequence[Sequence[str]],
        criterion: Criterion | str,
        epsilon: EpsilonLike,
        *,
        label: str | None = None,
        selection: Selection | str = Selection.PERMUTE_AND_FLIP,
        fresh: bool = False,
    ) -> Answer:
        """Choose for each cell the column, or the column and threshold, that splits the label best.

        Parameters
        ----------
        among
            Candidate columns for all cells, or a list of them for each cell.
        criterion
            ``"max"``, ``"gini"`` or ``"information_gain"``.
        label
            The column to be predicted; the schema's label by default.

        Privacy
        -------
        One selection per cell over all its candidates at once. Charges `epsilon` before counting.
        """
        target = label or (self.schema.label.name if self.schema.label else None)
        if target is None:
            raise PlanError(f"the schema of {self.schema.name!r} has no label: name one.")
        names: Sequence[Sequence[str]]
        if isinstance(among, str):
            among = (among,)
        if all(isinstance(name, str) for name in among):
            names = [tuple(map(str, among))] * self._place.cells.count
        else:
            names = list(among)
        candidates = tuple(tuple(Candidate.of(self.schema, name) for name in cell) for cell in names)
        chosen_by = _selection(selection)
        query = Choose(candidates, target, criterion_named(criterion), chosen_by, Epsilon.of(epsilon))
        return self._ask(query, fresh)

    def _ask(self, query: Query, fresh: bool) -> Answer:
        return self._executor.ask(query, self._place, self._account, fresh=fresh)


def _selection(name: Selection | str) -> Selection:
    try:
        return Selection(name)
    except ValueError:
        raise PlanError(f"there is no selection {name!r}. There are {', '.join(Selection)}.") from None
