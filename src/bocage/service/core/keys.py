"""Keys of analysts: 256 random bits, shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable

KEY = re.compile(r"bocage_[0-9a-f]{64}")
PREFIX_DIGITS = 8  # of the hash; they find the row, and the whole hash is compared
_NOBODY = "0" * 64


def new_key() -> str:
    """A key as an analyst gets it."""
    return f"bocage_{secrets.token_hex(32)}"


def new_id() -> str:
    """An id that nobody can guess: 128 random bits."""
    return secrets.token_hex(16)


def digest(key: str) -> str:
    """What is kept of a key. It has 256 random bits, so that one fast hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def matching(presented: str, known: Iterable[str]) -> str | None:
    """The known hash that equals the presented one, compared in constant time."""
    found = None
    for one in (*known, _NOBODY):  # at least one comparison, whether or not there is a candidate
        if hmac.compare_digest(one, presented):
            found = one
    return found
