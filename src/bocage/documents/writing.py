"""The one way to write a document, so that equal documents have equal hashes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def canonical_text(document: Any) -> str:
    """Sorted keys, no blanks, ASCII."""
    return _CANONICAL.encode(document)


def canonical(document: Any) -> bytes:
    """The same as bytes."""
    return canonical_text(document).encode("ascii")


def digest(content: bytes | memoryview) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
