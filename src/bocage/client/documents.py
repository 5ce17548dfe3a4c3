"""What a service tells about accounts, models and the ledger, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

from bocage.errors import ServiceError

Line = TypeVar("Line")


@dataclass(frozen=True)
class AccountLine:
    """What one analyst has of one table; amounts of epsilon are decimal texts."""

    table: str
    cap: str
    spent: str
    remaining: str
    state: str


@dataclass(frozen=True)
class Me:
    """Who asks, and what is left of each table."""

    analyst: str
    tables: tuple[AccountLine, ...]


@dataclass(frozen=True)
class ModelLine:
    """One model of the analyst. `dry_run` marks one that was made from made-up rows."""

    id: str
    table: str
    learner: str
    epsilon: str | None
    format: str
    job: str
    dry_run: bool
    created: str


@dataclass(frozen=True)
class LedgerLine:
    """One line of the ledger about the analyst's own account."""

    number: int
    time: str
    action: str
    scope: tuple[str, ...]
    epsilon: str
    memo: str
    request: str | None


def line(kind: type[Line], document: Any) -> Line:
    """Read a document; members that a newer service adds are left out."""
    try:
        values = {field.name: document[field.name] for field in fields(kind)}  # type: ignore[arg-type] # all lines are dataclasses
    except (KeyError, TypeError):
        raise ServiceError(
            f"a {kind.__name__} is not in the form of version 1: client and service do not fit."
        ) from None
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})
