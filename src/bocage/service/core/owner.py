"""What the owner does: register tables, let analysts in, freeze and revoke."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bocage.accounting import Balance, Ledger, Scope, State
from bocage.engine.files.draft import draft_schema, to_toml
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError, ScopeClosed, ServiceError
from bocage.private import protect
from bocage.schema import Schema
from bocage.service.core.directory import Home
from bocage.service.core.registry import Registered, Registry, check_table_name, now

_NO_FILE = ("postgresql://", "postgres://", "spark:")


@dataclass(frozen=True)
class Account:
    """What an analyst has of a table."""

    table: str
    grant: str
    balance: Balance


class Owner:
    """The owner's side of a home. Everything takes effect at once in running services."""

    def __init__(self, registry: Registry, ledger: Ledger, ledger_address: str) -> None:
        self.registry, self.ledger, self._address = registry, ledger, ledger_address

    @classmethod
    def of(cls, home: Home) -> Self:
        return cls(home.open_registry(), home.open_ledger(), home.ledger_address)

    def add_table(
        self,
        name: str,
        source: str,
        schema: Path,
        cap: str,
        *,
        adjacency: str = "add_remove",
        noise: str = "system",
        batch: str | None = None,
        snapshot: str | None = None,
    ) -> Registered:
        """Open the source as a service would, and register it if that works."""
        check_table_name(name)
        public = Schema.read(schema)
        placed = _absolute(source)
        amount = str(Epsilon.of(cap))
        table = Registered(
            name=name,
            source=placed,
            schema_text=json.dumps(public.to_dict(), ensure_ascii=False),
            scope=public.name,
            cap=amount,
            adjacency=adjacency,
            noise=noise,
            batch=batch or "",
            snapshot=snapshot or "",
            added=now(),
        )
        if batch == "":
            raise ServiceError("a batch is named by text of 1 to 200 characters.")
        protect(
            *(placed, public),
            ledger=self._address,
            anchor=self.ledger.anchor,
            cap=amount,
            adjacency=adjacency,
            noise=noise,
            batch=batch,
            snapshot=snapshot,
        ).close()
        self.registry.add_table(table)
        return table

    def set_cap(self, name: str, cap: str) -> None:
        """Change what all analysts together may spend on a table."""
        table, amount = self.registry.table(name), Epsilon.of(cap)
        self.ledger.set_cap(Scope.table(table.scope), amount)
        self.registry.set_cap(table.scope, str(amount))

    def freeze(self, name: str) -> None:
        """Refuse every question to a table; batches of one table are frozen together."""
        self.ledger.freeze(Scope.table(self.registry.table(name).scope))

    def thaw(self, name: str) -> None:
        self.ledger.thaw(Scope.table(self.registry.table(name).scope))

    def remove_table(self, name: str) -> None:
        self.registry.remove_table(self.registry.table(name).name)

    def grant(self, analyst: str, name: str, budget: str) -> None:
        """Let an analyst ask a table, or change the budget of one who may."""
        if self.registry.analyst(analyst).state != "open":
            raise ServiceError(f"analyst {analyst!r} was revoked, which is final. Add a new one.")
        table, amount = self.registry.table(name), Epsilon.of(budget)
        above = Scope.table(table.scope)
        scope = above.analyst(analyst)
        balance = self.ledger.balance(scope)
        if balance.state is State.ABSENT:
            self.ledger.analyst(above, analyst, amount)
        elif balance.state is State.REVOKED:
            raise ScopeClosed(f"analyst {analyst!r} was revoked from this table, which is final. Add a new one.")
        elif balance.cap != amount:
            self.ledger.set_cap(scope, amount)
        self.registry.grant(analyst, name)

    def revoke(self, analyst: str, name: str | None = None) -> None:
        """Shut an analyst out for good: from one table, or from all."""
        self.registry.analyst(analyst)
        grants = self.registry.grants(analyst)
        if name is not None and name not in grants:
            raise ServiceError(f"analyst {analyst!r} has no grant of table {name!r}.")
        known = {table.name: table.scope for table in self.registry.tables()}
        ending = list(grants) if name is None else [name]
        if name is None:
            self.registry.revoke_analyst(analyst)
        else:
            self.registry.revoke_grant(analyst, name)
        kept = {known.get(table) for table in grants if table not in ending}
        for scope in {known[table] for table in ending if table in known} - kept:
            with suppress(ScopeClosed):  # revoked already
                self.ledger.revoke(Scope.table(scope).analyst(analyst))

    def accounts(self, analyst: str) -> list[Account]:
        """What an analyst has of each table."""
        known = {table.name: table.scope for table in self.registry.tables()}
        accounts = []
        for table, state in self.registry.grants(analyst).items():
            if table in known:
                scope = Scope.table(known[table]).analyst(analyst)
                accounts.append(Account(table, state, self.ledger.balance(scope)))
        return accounts

    def close(self) -> None:
        self.registry.close()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(LedgerError):
            self.close()


def _absolute(source: str) -> str:
    """Paths as they are from anywhere: the service may start in another directory."""
    if source.startswith(("postgresql://", "postgres://")):
        return source
    prefix = "spark:" if source.startswith("spark:") else ""
    path = source.removeprefix(prefix)
    return source if "://" in path else prefix + str(Path(path).absolute())


def draft_of(name: str, source: str, label: str | None) -> str:
    """A first schema of a source in TOML, for its owner to review and sign: it reads rows.

    Where none can be made from the source, an example to write over.
    """
    if source.startswith(_NO_FILE):
        return _EMPTY.format(name=name)
    return to_toml(draft_schema(Path(source), name, label))


_EMPTY = """# A draft cannot be made from this source: declare what is public by hand.
name = "{name}"
# row_cap = 1000000

[[attributes]]
name = "sex"
type = "categorical"
values = ["F", "M"]

[target]
name = "label"
values = ["no", "yes"]
"""
