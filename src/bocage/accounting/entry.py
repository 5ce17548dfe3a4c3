"""One line of the ledger, and the hash that chains it to the line before."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from bocage.accounting.algebra import Action
from bocage.epsilon import Epsilon
from bocage.errors import EpsilonError, LedgerCorrupt, LedgerError

VERSION = 2  # since 2, tables declare their terms
BEFORE_ALL = "0" * 64
LONGEST_MEMO = 2**20
LONGEST_KEY = 200
_COMPACT = json.JSONEncoder(separators=(",", ":"))
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Entry:
    """One recorded action.

    Attributes
    ----------
    number
        1, 2, 3, … without gaps.
    time
        UTC, ISO 8601, by the clock of the host that wrote the entry.
    action
        What was done.
    scope
        The path of names; empty for the entry that creates the ledger.
    epsilon
        What was charged, or the cap that was set; zero otherwise.
    memo
        Public text, as a rule the plan of the question as canonical JSON.
    request
        The caller's key against charging twice, if any.
    previous, hash
        SHA-256 of the entry before and of this one.
    repeated
        True when `charge` found this entry under the same request and charged nothing. Not part
        of the record.
    left
        What remained right after a charge that was made now. Not part of the record.
    """

    number: int
    time: str
    action: Action
    scope: tuple[str, ...]
    epsilon: Epsilon
    memo: str
    request: str | None
    previous: str
    hash: str = ""
    repeated: bool = field(default=False, compare=False)
    left: Epsilon | None = field(default=None, compare=False)

    @property
    def digest(self) -> str:
        """The hash that the content calls for; `hash` is the one on record."""
        content = [
            self.number,
            self.time,
            self.action,
            self.scope,
            self.epsilon.nano,
            self.memo,
            self.request,
            self.previous,
        ]
        return hashlib.sha256(_COMPACT.encode(content).encode()).hexdigest()

    def sealed(self) -> Entry:
        """This entry, with its hash; for a new one that nobody else has seen."""
        object.__setattr__(self, "hash", self.digest)
        return self

    def again(self) -> Entry:
        return replace(self, repeated=True)

    def line(self) -> str:
        """The entry as one line of an export."""
        content: dict[str, Any] = {
            "number": self.number,
            "time": self.time,
            "action": self.action,
            "scope": self.scope,
            "nano": self.epsilon.nano,
            "memo": self.memo,
            "request": self.request,
            "previous": self.previous,
            "hash": self.hash,
        }
        return _COMPACT.encode(content)


def read_entry(number: Any, **fields: Any) -> Entry:
    """Build an entry from stored fields (`scope` as a list, `nano` as an integer)."""
    try:
        return Entry(
            number=int(number),
            time=str(fields["time"]),
            action=Action(fields["action"]),
            scope=tuple(str(name) for name in fields["scope"]),
            epsilon=Epsilon(int(fields["nano"])),
            memo=str(fields["memo"]),
            request=None if fields["request"] is None else str(fields["request"]),
            previous=str(fields["previous"]),
            hash=str(fields["hash"]),
        )
    except (KeyError, ValueError, TypeError, EpsilonError) as error:
        raise LedgerCorrupt(f"entry {number} of the ledger cannot be read.") from error


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def check_memo(memo: str) -> str:
    return _check_text(memo, "a memo", LONGEST_MEMO)


def check_key(key: str) -> str:
    """A request, or the key of an answer."""
    return _check_text(key, "a key", LONGEST_KEY)


def _check_text(text: str, what: str, longest: int) -> str:
    """Refuse text that one of the databases could not give back as it came."""
    storable = isinstance(text, str) and "\0" not in text
    if not storable or not (text.isascii() or _SURROGATE.search(text) is None):
        raise LedgerError(f"{what} must be text without NUL and lone surrogates.")
    if len(text) > longest:
        raise LedgerError(f"{what} may have {longest} characters, not {len(text)}.")
    return text
