"""The secret of a ledger: it names private things, and seals what the chain does not hold."""

from __future__ import annotations

import hmac
import secrets
from typing import Self

_BYTES = 32

MODULUS = 1 << 60  # the sum of two fits in the integers of every database


class Secret:
    """A key of HMAC-SHA256 that is in no entry, no export and no message."""

    def __init__(self, value: bytes) -> None:
        self.value = value
        self._seals = hmac.digest(value, b"\xff seals", "sha256")  # no text in UTF-8 has this byte

    @classmethod
    def new(cls) -> Self:
        return cls(secrets.token_bytes(_BYTES))

    def blind(self, text: str) -> str:
        """A name for something private that says nothing about it to who lacks the secret."""
        return hmac.digest(self.value, text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def seal(self, *fields: str | int | bytes) -> int:
        """A number that changes with every field, and with where one ends and the next begins."""
        message = bytearray()
        for field in fields:
            part = field if isinstance(field, bytes) else str(field).encode()
            message += len(part).to_bytes(8, "big") + part
        digest: bytes = hmac.digest(self._seals, message, "sha256")
        return int.from_bytes(digest[:8], "big") % MODULUS
