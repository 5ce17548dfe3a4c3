"""The fast path of a question: most requests are one, and most of them are in order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from anyio import to_thread
from pydantic import ValidationError

from bocage.service.core import documents, questions, strict_json

if TYPE_CHECKING:
    from bocage.service.core.service import Service

_PATH = re.compile(rf"/v1/tables/({documents.NAME_PATTERN})/query")
_LONGEST_KEPT, _MOST_KEPT = 2**12, 256  # bodies that are not read again
_HEADER, _KEY = b"idempotency-key", re.compile(documents.KEY_PATTERN)


@dataclass(frozen=True)
class _Route:
    """What log and metrics call the way."""

    path: str = "/v1/tables/{table}/query"


_ROUTE = _Route()


class FastPath:
    """Answers questions that are in order, without the layers of the application.

    What is not in order is left to the application: its route reads the same request, by the same
    rules, and says what is wrong with it.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._share = max(service.settings.threads * 3 // 4, 1)
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @staticmethod
    def table_of(scope: MutableMapping[str, Any]) -> str | None:
        """The table that a question is about, by its address; None if it is no question."""
        address = _PATH.fullmatch(scope["path"])
        return None if address is None or scope["method"] != "POST" else address[1]

    async def answer(self, scope: MutableMapping[str, Any], table: str, body: bytes) -> bytes | None:
        """The answer to a question, as JSON; None leaves the request to the application."""
        asked = _read(scope["headers"], body, self._service.settings.json_depth)
        if asked is None:
            return None
        scope["route"] = _ROUTE
        caller = scope["state"]
        async with self._share_of(caller["key"]):
            return await to_thread.run_sync(self._work, caller, table, *asked)

    def _share_of(self, key: str) -> asyncio.Semaphore:
        """What questions of one key wait for, so that some threads are left to others."""
        share = self._shares.get(key)
        if share is None:
            share = self._shares[key] = asyncio.Semaphore(self._share)
        return share

    def _work(
        self,
        caller: MutableMapping[str, Any],
        table: str,
        request: documents.QueryRequest,
        key: str | None,
    ) -> bytes:
        analyst, grant = caller["analyst"], caller.get("grant")
        answer = questions.query(self._service, analyst, table, request, key, grant=grant)
        return answer.to_json().encode()


def _read(
    headers: list[tuple[bytes, bytes]], body: bytes, depth: int
) -> tuple[documents.QueryRequest, str | None] | None:
    """The question and its idempotency key, if they are in order."""
    kinds = [value for name, value in headers if name == b"content-type"]
    keys = [value.decode("latin-1") for name, value in headers if name == _HEADER]
    if kinds != [b"application/json"] or len(keys) > 1 or not all(map(_KEY.fullmatch, keys)):
        return None
    request = (_request_kept if len(body) <= _LONGEST_KEPT else _request)(body, depth)
    return None if request is None else (request, keys[0] if keys else None)


def _request(body: bytes, depth: int) -> documents.QueryRequest | None:
    try:
        return documents.QueryRequest.model_validate(strict_json.parse(body, depth))
    except (strict_json.Refused, ValidationError):
        return None


_request_kept = lru_cache(_MOST_KEPT)(_request)
