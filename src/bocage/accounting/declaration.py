"""The public terms of a table, as its owner declares them: an event on the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bocage.documents.writing import canonical_text
from bocage.errors import LedgerCorrupt, LedgerError

_LONGEST_SHOWN = 80


@dataclass(frozen=True)
class Declaration:
    """What a table is.

    Attributes
    ----------
    fixed
        Terms that hold for as long as the account does: what its numbers are about.
    current
        Terms that may change. Each change is an entry of its own.
    """

    fixed: Mapping[str, str]
    current: Mapping[str, str]

    @classmethod
    def of(cls, fixed: Mapping[str, str], current: Mapping[str, str]) -> Declaration:
        for term, value in (*fixed.items(), *current.items()):
            if not (isinstance(term, str) and isinstance(value, str)):
                raise LedgerError(f"a declared term is text and has text, not {term!r}: {value!r}.")
        return cls(dict(fixed), dict(current))

    @classmethod
    def read(cls, memo: str) -> Declaration:
        """The declaration that an entry holds."""
        try:
            document = json.loads(memo)
            return cls.of(dict(document["fixed"]), dict(document["current"]))
        except (KeyError, ValueError, TypeError, LedgerError) as error:
            raise LedgerCorrupt("a declaration of the ledger cannot be read. Verify it.") from error

    @property
    def memo(self) -> str:
        """Canonical JSON: equal declarations have equal texts."""
        terms = {"current": dict(self.current), "fixed": dict(self.fixed)}
        return canonical_text(terms)

    @property
    def text(self) -> str:
        """For people who look at the ledger."""
        terms = {**self.fixed, **self.current}
        return "declared " + ", ".join(f"{term}={terms[term]}" for term in sorted(terms))

    def and_then(self, given: Declaration) -> Declaration:
        """These terms with those given in their places; terms that are not given stay as they are."""
        return Declaration(self.fixed, {**self.current, **given.current})

    def twin(self, given: Declaration, kind: str) -> tuple[str, str] | None:
        """A term of a kind that is given and the other one here that has the same text, if any."""
        return next(
            (
                (term, other)
                for term, text in given.current.items()
                for other, declared in self.current.items()
                if term != other and text == declared and term.startswith(kind) and other.startswith(kind)
            ),
            None,
        )

    def require_same(self, given: Declaration, table: str) -> None:
        """Refuse other fixed terms than these, which are on record."""
        for term in sorted({*self.fixed, *given.fixed}):
            on_record, now = self.fixed.get(term), given.fixed.get(term)
            if on_record != now:
                raise LedgerError(
                    f"{table} has {term} {_shown(on_record)} on record, not {_shown(now)}. What was "
                    "spent under one cannot be added to what is spent under the other. Open the "
                    "table as it is on record, or under another name with a cap of its own."
                )


def _shown(value: str | None) -> str:
    if value is None:
        return "(not declared)"
    return repr(value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "…")
