"""An open transaction: SQL in, rows out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Value = int | str | bytes | None


class Run(Protocol):
    """Run one statement inside a transaction and return its rows."""

    def __call__(self, sql: str, *values: Value) -> list[tuple[Any, ...]]: ...


class Transaction:
    """A transaction that writes. It is itself the function that runs its statements.

    Attributes
    ----------
    connection
        The connection of the database that it is open on.
    wrote
        Whether a statement may have changed something.
    """

    __slots__ = ("_execute", "connection", "wrote")

    def __init__(
        self,
        execute: Callable[[Any, str, tuple[Value, ...]], list[tuple[Any, ...]]],
        connection: Any,
    ) -> None:
        self._execute = execute
        self.connection = connection
        self.wrote = False

    def run(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        if not sql.startswith("SELECT"):
            self.wrote = True
        return self._execute(self.connection, sql, values)

    __call__ = run
