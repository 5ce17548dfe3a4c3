"""The owner's side: put a table behind the privacy layer and let analysts in."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from bocage.accounting import (
    Account,
    Ledger,
    LedgerAccount,
    MemoryAccount,
    Scope,
    open_ledger,
)
from bocage.engine.sources import open_engine
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import DeclaredTwice, PlanError
from bocage.mechanisms import Adjacency, Noise, OpenDPNoise, SystemNoise
from bocage.private.executor import LiveExecutor, version_of
from bocage.private.query import Terms
from bocage.private.questions import EpsilonLike
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Schema

BATCHES = "batches"  # no other partition is named so: the names of all others end in a hash
LONGEST_BATCH = 200
CHANGING = "may change at any moment"
BATCH_ROWS = "rows of batch "  # how the terms of batches begin
_PROVIDERS: dict[str, Callable[[], Noise]] = {"system": SystemNoise, "opendp": OpenDPNoise}


class ProtectedTable:
    """One table behind the layer, as its owner holds it. Analysts get a :class:`PrivateTable`."""

    def __init__(self, executor: LiveExecutor, ledger: Ledger, cap: Epsilon) -> None:
        self._ledger = ledger
        self._scope = ledger.table(executor.terms.schema.name, cap)
        declared = Declared(ledger, self._scope, executor.terms)
        declared(version_of(executor.engine, ledger))
        self._executor = replace(executor, declare=declared)

    @property
    def schema(self) -> Schema:
        return self._executor.terms.schema

    def analyst(
        self,
        name: str,
        budget: EpsilonLike | None = None,
        *,
        through: Callable[[LedgerAccount], Account] | None = None,
    ) -> PrivateTable:
        """The table as one analyst sees it, with a budget below the cap over all analysts.

        Without `budget` the analyst must have an account. `through` puts something between the
        questions and the account, such as a service that has to know what was charged; whether
        there is an account is then found out by the first charge.
        """
        if budget is None and through is not None:
            scope = self._scope.analyst(name)
        else:
            cap = None if budget is None else Epsilon.of(budget)
            scope = self._ledger.analyst(self._scope, name, cap)
        if self._executor.terms.batch is not None:
            scope = scope.partition(BATCHES).part(self._executor.terms.batch)
        account = LedgerAccount(self._ledger, scope)
        return PrivateTable(self._executor, through(account) if through else account, WHOLE)

    @property
    def is_moving(self) -> bool:
        """Whether the rows can change at any moment, so that no two questions share a maximum."""
        return self._executor.is_moving

    def freeze(self) -> None:
        """Refuse every charge to this table until it is thawed."""
        self._ledger.freeze(self._scope)

    def thaw(self) -> None:
        self._ledger.thaw(self._scope)

    def spent(self) -> Epsilon:
        """What all analysts together have spent."""
        return self._ledger.spent(self._scope)

    def remaining(self) -> Epsilon:
        return self._ledger.remaining(self._scope)

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    def close(self) -> None:
        self._executor.engine.close()
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Declared:
    """Keeps in the ledger what a table is about: an owner's change of schema or rows is an event.

    Privacy
    -------
    Which tables are neighbors is fixed when a table is first opened: amounts of loss that are about
    different neighbors do not add up.
    """

    def __init__(self, ledger: Ledger, scope: Scope, terms: Terms) -> None:
        self._ledger, self._scope, self._terms = ledger, scope, terms
        self._last: tuple[str | None] | None = None

    def __call__(self, version: str | None) -> None:
        """Declare a version of the rows, before anything is charged to it."""
        if self._last == (version,):
            return
        schema, batch = self._terms.schema, self._terms.batch
        rows = "rows" if batch is None else f"{BATCH_ROWS}{batch}"
        fixed = {"adjacency": self._terms.adjacency.value, "over_cap": schema.over_cap}
        current = {"schema": schema.encoding, rows: version or CHANGING}
        try:
            self._ledger.declare(self._scope, fixed, current, distinct=BATCH_ROWS)
        except DeclaredTwice as twins:
            raise PlanError(
                f"these are, or once were, the {twins.other} of table {schema.name!r}, and nobody is in "
                "two batches. Open them under one name. Nothing was charged."
            ) from None
        self._last = (version,)


def protect(
    source: Any,
    schema: Schema | str | Path,
    *,
    ledger: str | os.PathLike[str],
    cap: EpsilonLike,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    noise: str = "system",
    create: bool = False,
    batch: str | None = None,
    snapshot: str | None = None,
    anchor: str | os.PathLike[str] | None = None,
) -> ProtectedTable:
    """Put a table behind the privacy layer.

    Parameters
    ----------
    source
        A Parquet or CSV file, ``file.duckdb#table``, ``postgresql://…#table``, a Spark or other
        data frame, or columns.
    schema
        The public schema, or the file that holds it.
    ledger
        Path of the ledger file, or a ``postgresql://`` URL for several hosts.
    cap
        What all analysts together may spend on this table.
    adjacency
        Which two tables must look alike: ``"add_remove"`` or ``"replace"`` one record.
    noise
        ``"system"``, or ``"opendp"`` for the OpenDP library's samplers.
    create
        Make the ledger if it is not there. Off by default, because a mislaid ledger must not come
        back as one on which nothing was spent.
    batch
        The owner's declaration that these rows are one batch of the table, named so, and that no
        person is in two batches.
    snapshot
        The owner's declaration that the rows of a database do not change under this name. Files and
        rows in memory need none.
    anchor
        A file on another disk that names the last entry of the ledger, so that an older copy of it
        is refused.

    Privacy
    -------
    Adjacency and the rule for rows over the cap are fixed when a table is first opened. A changed
    schema or changed rows are declared in the ledger. Parts of a partition cost their maximum in
    one version of the rows; versions add. A source that can change at any moment has as many
    versions as questions.

    What an analyst spends on different batches costs the maximum, not the sum, because every person
    is in one batch. The layer cannot check that: a person who is in two batches pays for both. Rows
    opened without `batch` may be anybody's; what they cost adds to all batches.
    """
    public = schema if isinstance(schema, Schema) else Schema.read(schema)
    terms = Terms(public, _adjacency(adjacency), _batch(batch))
    provider, most = _noise(noise), Epsilon.of(cap)
    with ExitStack() as undo:
        engine = undo.enter_context(closing(open_engine(source, public, snapshot=snapshot)))
        if terms.batch is not None and engine.version is None:
            raise PlanError(
                f"batch {terms.batch!r} is of rows that may change at any moment. Declare that they do "
                "not, with snapshot=..., or give them as a file."
            )
        book = undo.enter_context(open_ledger(ledger, create=create, anchor=anchor))
        table = ProtectedTable(LiveExecutor(terms, engine, provider), book, most)
        undo.pop_all()
    return table


def study(
    source: Any,
    schema: Schema | str | Path,
    *,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    batch: str | None = None,
) -> PrivateTable:
    """Ask a table that needs no protection, such as a public data set: no ledger, no limit.

    The noise and the prices are real, but nothing is kept and nothing stops at a budget. What comes
    out carries no ledger number.
    """
    public = schema if isinstance(schema, Schema) else Schema.read(schema)
    terms = Terms(public, _adjacency(adjacency), _batch(batch))
    executor = LiveExecutor(terms, open_engine(source, public), SystemNoise(), has_ledger=False)
    return PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), WHOLE)


def _adjacency(name: Adjacency | str) -> Adjacency:
    try:
        return Adjacency(name)
    except ValueError:
        raise PlanError(f"there is no adjacency {name!r}. There are {', '.join(Adjacency)}.") from None


def _batch(name: str | None) -> str | None:
    if name is not None and (not isinstance(name, str) or not 0 < len(name) <= LONGEST_BATCH):
        raise PlanError(f"a batch is named by text of 1 to {LONGEST_BATCH} characters.")
    return name


def _noise(name: str) -> Noise:
    if name not in _PROVIDERS:
        raise PlanError(f"there is no noise {name!r}. There are {', '.join(_PROVIDERS)}.")
    return _PROVIDERS[name]()
