"""Sessions of the web console, and the owner's key.

A session stands for a key: it ends when it was not used for a while, when its key is rotated or
revoked, and when its user logs out. A cookie carries 256 random bits; the registry keeps their hash.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal

from bocage.service.core.registry import KEY, PREFIX_DIGITS, key_digest, matching, new_key, now
from bocage.service.core.store import open_store

COOKIE = "bocage_session"
_REFRESH_SECONDS = 30  # how often the end of a session that is used is moved on


@dataclass(frozen=True)
class Session:
    """Who is logged in."""

    role: Literal["owner", "analyst"]
    analyst: str  # empty for the owner
    key: str  # the hash of the key that was logged in with


class Sessions:
    """The sessions of a home. One may be shared by threads, processes and hosts."""

    def __init__(self, target: str, minutes: int) -> None:
        self._store = open_store(target, durable=False)
        self._seconds = 60 * minutes

    def log_in(self, key: str) -> str | None:
        """The token of a new session, if the key is the owner's or that of an open analyst."""
        if not KEY.fullmatch(key):
            return None
        digest = key_digest(key)
        with self._store.read() as run:
            owners = run("SELECT digest FROM owner")
            analysts = run(
                "SELECT digest, name, state FROM analysts WHERE prefix = ?",
                digest[:PREFIX_DIGITS],
            )
        match = matching(digest, [row[0] for row in (*owners, *analysts)])
        if match is None:
            return None
        name = next((row[1] for row in analysts if row[0] == match and row[2] == "open"), None)
        if name is None and match not in [row[0] for row in owners]:
            return None
        role = "owner" if name is None else "analyst"
        token = secrets.token_hex(32)
        with self._store.write() as run:
            run("DELETE FROM sessions WHERE expires < ?", int(time.time()))
            row = (key_digest(token), role, name or "", digest, int(time.time()) + self._seconds)
            run("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", *row)
        return token

    def find(self, token: str) -> Session | None:
        """Whose session this is, if it is still one; being used, it lasts longer."""
        digest, moment = key_digest(token), int(time.time())
        with self._store.read() as run:
            rows = run(
                "SELECT s.role, s.analyst, s.key, s.expires FROM sessions AS s "
                "LEFT JOIN analysts AS a ON a.name = s.analyst AND a.digest = s.key "
                "LEFT JOIN owner AS o ON o.digest = s.key "
                "WHERE s.digest = ? AND s.expires >= ? AND "
                "((s.role = 'analyst' AND a.state = 'open') OR (s.role = 'owner' AND o.id = 1))",
                *(digest, moment),
            )
        if not rows:
            return None
        role, analyst, key, expires = rows[0]
        if moment + self._seconds - expires >= min(_REFRESH_SECONDS, self._seconds // 4):
            with self._store.write() as run:
                run(
                    "UPDATE sessions SET expires = ? WHERE digest = ?",
                    *(moment + self._seconds, digest),
                )
        return Session(role, analyst, key)

    def log_out(self, token: str) -> None:
        with self._store.write() as run:
            run("DELETE FROM sessions WHERE digest = ?", key_digest(token))

    def new_owner_key(self) -> str:
        """A key for the owner's console; an older one ends at once."""
        key = new_key()
        with self._store.write() as run:
            run("DELETE FROM owner")
            run("DELETE FROM sessions WHERE role = 'owner'")
            run("INSERT INTO owner VALUES (1, ?, ?)", key_digest(key), now())
        return key

    def close(self) -> None:
        self._store.close()


def session_cookie(scope: MutableMapping[str, Any]) -> str | None:
    """The token that a request carries."""
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                morsel = SimpleCookie(value.decode("latin-1")).get(COOKIE)
            except CookieError:
                return None
            return morsel.value if morsel is not None else None
    return None
