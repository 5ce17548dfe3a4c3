"""A table that answers with noise and charges for it, in the manner of PINQ (McSherry 2009)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from bocage.accounting import MemoryAccount
from bocage.engine.derived_counts import DerivedCounts
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import EpsilonError, PlanError
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.model import Model
from bocage.plan import Cells, Predicate, bind, parse
from bocage.plan.documents import ASKS
from bocage.plan.predicate import ALWAYS, Value
from bocage.plan.regions import both
from bocage.private.answer import Kind
from bocage.private.capabilities import Capability
from bocage.private.cells import OpenCells
from bocage.private.dry_run import dry_executor
from bocage.private.executor import LiveExecutor, Pricer, memo_of
from bocage.private.partition import PrivatePartition, by_cells, by_column
from bocage.private.query import Place, StorableQuery
from bocage.private.questions import Askable, EpsilonLike
from bocage.private.transcript import Transcript

WHOLE = Place(ALWAYS, Cells(), ("",))
_METHODS = tuple(ask.kind for ask in ASKS)


Told = Callable[[int, int], None]  # levels done, levels in all
Released = TypeVar("Released", bound=Model)
Drawn = TypeVar("Drawn")


class Described(Protocol):
    """A learner as data: what to call it, and its public parameters."""

    name: ClassVar[str]

    def parameters(self) -> dict[str, Any]: ...


@runtime_checkable
class HasLeaves(Protocol):
    """A released tree: the cells of its leaves, and a name for each."""

    @property
    def cells(self) -> Cells: ...

    @property
    def leaf_names(self) -> Sequence[str]: ...


class PrivateTable(Askable):
    """Rows that can be asked about, not looked at.

    `where` and `partition` make new tables without touching the rows; the noisy methods charge the
    account, then read, then release. Get one from :func:`bocage.protect` or :func:`bocage.study`.
    """

    @property
    def adjacency(self) -> Adjacency:
        """Which two tables look alike."""
        return self._executor.terms.adjacency

    @property
    def batch(self) -> str | None:
        """The batch that the rows are, if the owner declared one."""
        return self._executor.terms.batch

    @property
    def is_made_up(self) -> bool:
        """Whether the rows are those of a dry run."""
        return isinstance(self._executor, LiveExecutor) and self._executor.kind is Kind.DRY_RUN

    def where(self, predicate: Predicate | str) -> PrivateTable:
        """The rows that pass a filter: ``"age >= 30 and sex = 'F'"`` or ``col("age") >= 30``."""
        parsed = parse(predicate) if isinstance(predicate, str) else predicate
        bound = bind(parsed, self.schema)
        place = replace(self._place, where=both(self._place.where, bound))
        return PrivateTable(self._executor, self._account, place)

    def partition(
        self,
        by: str | HasLeaves,
        *,
        edges: Sequence[Value] | None = None,
        values: Sequence[str] | None = None,
    ) -> PrivatePartition:
        """Disjoint parts that cost their maximum, not their sum.

        Parameters
        ----------
        by
            A column (one part per value, or per range of a numeric one), or a released tree (one
            part per leaf).
        edges
            Where the ranges of a numeric column begin; without them every grid cell is a part.
        values
            Only these values of a categorical column.
        """
        if isinstance(by, str):
            place = by_column(self.schema, self._place, by, edges=edges, values=values)
        elif isinstance(by, HasLeaves):
            place = by_cells(self.schema, self._place, by.cells, by.leaf_names)
        else:
            raise PlanError(f"a partition is made by a column or a tree, not {type(by).__name__}.")
        return PrivatePartition(self._executor, self._account, place)

    def reserve(self, epsilon: EpsilonLike, memo: str, requires: Sequence[Capability] = ()) -> OpenCells:
        """Charge `epsilon` at once; the cell returned spends it in pieces without a disk.

        All that it asks is about the rows as they were when it was reserved. A noise provider that lacks something of
        `requires` refuses before the charge.

        Privacy
        -------
        What is reserved counts as spent, whether or not it is used.
        """
        if not isinstance(self._executor, LiveExecutor):
            raise PlanError("a preview prices single questions; a learner publishes its plan.")
        if self._place.where != ALWAYS:  # the owner reads in the ledger which rows were asked about
            memo = memo_of({"reserve": memo, **self._place.describe()})
        for need in requires:
            need(self._executor.noise)
        now = self._executor.pin(self._account, self._place, named=False)
        account = now.payer.reserve(Epsilon.of(epsilon), memo)
        transcript = Transcript(Epsilon.of(epsilon), account.scope)
        executor = replace(self._executor, engine=DerivedCounts(now.engine), transcript=transcript)
        return OpenCells.reserved(executor, self._place, account)

    def once(
        self,
        key: str,
        query: StorableQuery[Drawn],
        about: Mapping[str, str | int],
        finish: Callable[[Drawn, int | None], bytes],
    ) -> bytes:
        """Release something under a key; asked again, the very same bytes come back, free.

        Parameters
        ----------
        key
            Names the release for good: at most 200 characters.
        query, about
            What is asked, and what else the ledger keeps of it. The same under the same key.
        finish
            Makes what is kept of the draw and the number of the ledger entry that paid.

        Privacy
        -------
        One durable charge, made before a row is read, pays for one draw, which is kept before
        `finish` runs. What was kept first is what everybody gets. If the process dies, the next
        call finds the charge on record and finishes what it paid for.
        """
        if not isinstance(self._executor, LiveExecutor):
            raise PlanError("a preview prices single questions and releases nothing.")
        return self._executor.once(query, self._place, self._account, key=key, about=about, finish=finish)

    def learn(
        self,
        learner: Described,
        fit: Callable[[PrivateTable, EpsilonLike, Told], Released],
        epsilon: EpsilonLike,
        progress: Told,
        update: Released | None = None,
    ) -> Released:
        """Let a learner work beside the rows: here; a table behind a service sends it there.

        `update` is the model to which these rows are added, if there is one.
        """
        return fit(self, epsilon, progress)

    def spent(self) -> Epsilon:
        """What this account has spent."""
        return self._executor.account(self._account, self._place).spent()

    def remaining(self) -> Epsilon:
        """The largest charge that would be accepted now, by every cap above this account."""
        return self._executor.account(self._account, self._place).remaining()

    def preview(self, *, rows: int | None = None) -> PrivateTable:
        """The same interface, with prices instead of values; nothing is charged or read.

        Ask it a whole batch and read `spent()`: that is what the batch would cost, at most; what
        was asked or spent on parts before this preview may make it cheaper. `rows` is a number of
        rows to assume where the expected error depends on it.
        """
        executor = Pricer(self._executor.terms, rows, self.remaining(), self._executor.is_moving)
        return PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), self._place)

    def dry_run(self, *, rows: int = 1000) -> PrivateTable:
        """The same code path on rows made up from the schema: free, and marked as such."""
        noise = self._executor.noise if isinstance(self._executor, LiveExecutor) else SystemNoise()
        executor = dry_executor(self._executor.terms, noise, rows)
        return PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), self._place)

    def epsilon_for(self, plus_minus: float, method: str, *args: object) -> Epsilon:
        """The smallest epsilon for which a question is off by at most `plus_minus`, with 95 %.

        Examples
        --------
        ``table.epsilon_for(50, "noisy_count")``, ``table.epsilon_for(1000, "noisy_sum", "age")``
        """
        if not plus_minus > 0:
            raise PlanError(f"an error is greater than 0, not {plus_minus}.")
        if method not in _METHODS:
            raise PlanError(f"{method!r} is no question. There are {', '.join(_METHODS)}.")
        low, high = 1, LARGEST
        while low < high:
            middle = (low + high) // 2
            expected = self._expected(method, args, Epsilon(middle))
            low, high = (low, middle) if expected <= plus_minus else (middle + 1, high)
        if self._expected(method, args, Epsilon(low)) > plus_minus:
            raise EpsilonError(f"no epsilon gives {method} an error of at most {plus_minus}.")
        return Epsilon(low)

    def _expected(self, method: str, args: Sequence[object], epsilon: Epsilon) -> float:
        try:
            expected = getattr(self.preview(), method)(*args, epsilon).plus_minus
        except EpsilonError:  # too small for this question
            return inf
        if expected is None:
            raise PlanError(
                f"the error of {method} depends on the table and is not known in advance; "
                "noisy_count, noisy_counts and noisy_sum have one that is."
            )
        return float(expected)

    def close(self) -> None:
        """Release the engine of a study or a dry run; a protected one belongs to its owner."""
        if isinstance(self._executor, LiveExecutor) and not self.has_ledger:
            self._executor.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<PrivateTable {self.schema.name!r}, epsilon {self.remaining()} left>"
