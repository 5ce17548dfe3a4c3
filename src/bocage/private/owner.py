"""The owner's side: put a table behind the privacy layer and let analysts in."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Self

from bocage.accounting import Account, Ledger, LedgerAccount, MemoryAccount, open_ledger
from bocage.engine.sources import open_engine
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency, Noise, OpenDPNoise, SystemNoise
from bocage.private.ask import EpsilonLike
from bocage.private.desk import LiveDesk
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Schema

BATCHES = "batches"  # no other partition is named so: the names of all others end in a hash
LONGEST_BATCH = 200
_PROVIDERS: dict[str, Callable[[], Noise]] = {"system": SystemNoise, "opendp": OpenDPNoise}


class ProtectedTable:
    """One table behind the layer, as its owner holds it. Analysts get a :class:`PrivateTable`."""

    def __init__(self, desk: LiveDesk, ledger: Ledger, cap: Epsilon) -> None:
        self._desk, self._ledger = desk, ledger
        self._scope = ledger.table(desk.terms.schema.name, cap)

    @property
    def schema(self) -> Schema:
        return self._desk.terms.schema

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
        if self._desk.terms.batch is not None:
            scope = scope.partition(BATCHES).part(self._desk.terms.batch)
        account = LedgerAccount(self._ledger, scope)
        return PrivateTable(self._desk, through(account) if through else account, WHOLE)

    @property
    def at_hand(self) -> bool:
        """Whether a count takes so little that nobody need wait for it in a thread of its own."""
        return self._desk.engine.at_hand

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
        self._desk.engine.close()
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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

    Privacy
    -------
    What an analyst spends on different batches costs the maximum, not the sum, because every person
    is in one batch. The layer cannot check that: a person who is in two batches pays for both. Rows
    opened without `batch` may be anybody's; what they cost adds to all batches.
    """
    public = schema if isinstance(schema, Schema) else Schema.read(schema)
    terms = Terms(public, _adjacency(adjacency), _batch(batch))
    provider, most = _noise(noise), Epsilon.of(cap)
    with ExitStack() as undo:
        engine = undo.enter_context(closing(open_engine(source, public)))
        book = undo.enter_context(open_ledger(ledger, create=create))
        table = ProtectedTable(LiveDesk(terms, engine, provider), book, most)
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
    desk = LiveDesk(terms, open_engine(source, public), SystemNoise(), has_ledger=False)
    return PrivateTable(desk, MemoryAccount.of(Epsilon(LARGEST)), WHOLE)


def _adjacency(name: Adjacency | str) -> Adjacency:
    try:
        return Adjacency(name)
    except ValueError:
        raise PlanError(
            f"there is no adjacency {name!r}. There are {', '.join(Adjacency)}."
        ) from None


def _batch(name: str | None) -> str | None:
    if name is not None and (not isinstance(name, str) or not 0 < len(name) <= LONGEST_BATCH):
        raise PlanError(f"a batch is named by text of 1 to {LONGEST_BATCH} characters.")
    return name


def _noise(name: str) -> Noise:
    if name not in _PROVIDERS:
        raise PlanError(f"there is no noise {name!r}. There are {', '.join(_PROVIDERS)}.")
    return _PROVIDERS[name]()
