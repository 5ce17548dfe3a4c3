"""Scopes: the paths of names at which privacy loss is counted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from bocage.errors import LedgerError

LONGEST_NAME = 8192
LONGEST_SHOWN = 60


class ScopeKind(StrEnum):
    """What a scope stands for. It follows from the depth of the path alone."""

    TABLE = "table"
    ANALYST = "analyst"
    PARTITION = "partition"
    PART = "part"


@dataclass(frozen=True)
class Scope:
    """A place in the tree table → analyst → (partition → part)*.

    A table, an analyst and a part are *sequential*: what is charged there adds up. The parts of a
    partition hold disjoint rows, so the partition costs the maximum of its parts.

    Examples
    --------
    >>> alice = Scope.table("people").analyst("alice")
    >>> print(alice.partition("by sex").part("F"))
    people / alice / by sex / F
    """

    path: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.path:
            raise LedgerError("a scope needs at least the name of a table.")
        for name in self.path:
            if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
                raise LedgerError(f"a scope is named by text of 1 to {LONGEST_NAME} characters.")

    @classmethod
    def table(cls, name: str) -> Scope:
        return cls((name,))

    def analyst(self, name: str) -> Scope:
        return self._below(name, ScopeKind.ANALYST)

    def partition(self, name: str) -> Scope:
        return self._below(name, ScopeKind.PARTITION)

    def part(self, name: str) -> Scope:
        return self._below(name, ScopeKind.PART)

    def _below(self, name: str, kind: ScopeKind) -> Scope:
        below = Scope((*self.path, name))
        if below.kind is not kind:
            raise LedgerError(f"a {self.kind} is divided by a {below.kind}, not by a {kind}.")
        return below

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def kind(self) -> ScopeKind:
        if len(self.path) <= 2:
            return (ScopeKind.TABLE, ScopeKind.ANALYST)[len(self.path) - 1]
        return ScopeKind.PARTITION if len(self.path) % 2 else ScopeKind.PART

    @property
    def has_cap(self) -> bool:
        """Tables and analysts are opened by the owner with a cap; the rest needs no opening."""
        return len(self.path) <= 2

    @property
    def lineage(self) -> tuple[Scope, ...]:
        """This scope and everything above it, the table first."""
        return _lineage(self.path)

    @property
    def text(self) -> str:
        """The path as ASCII JSON: no name can break it, whatever characters it has."""
        return _written(self.path)[0]

    @property
    def key(self) -> str:
        return _written(self.path)[1]

    @property
    def title(self) -> str:
        """For messages: the kind and the (shortened) name."""
        shown = self.name if len(self.name) <= LONGEST_SHOWN else self.name[:LONGEST_SHOWN] + "…"
        return f"{self.kind} {shown!r}"

    def __str__(self) -> str:
        return " / ".join(self.path)


@lru_cache(maxsize=2**12)
def _lineage(path: tuple[str, ...]) -> tuple[Scope, ...]:
    return tuple(Scope(path[:depth]) for depth in range(1, len(path) + 1))


@lru_cache(maxsize=2**12)
def _written(path: tuple[str, ...]) -> tuple[str, str]:
    """Text and key of a path; the same few are asked for with every charge."""
    text = json.dumps(path, separators=(",", ":"))
    return text, hashlib.sha256(text.encode()).hexdigest()
