"""The short way of a question: most requests are one, and most of them are in order."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bocage.service.alone import Alone
from bocage.service.core import documents, questions, strict_json
from bocage.service.crew import Crew
from bocage.service.turns import Turns

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


@dataclass(frozen=True)
class _Asked:
    """A question as it came, read and checked."""

    table: str
    request: documents.QueryRequest
    key: str | None

    @property
    def is_light(self) -> bool:
        """Whether one number is asked for: nobody waits long for its noise."""
        return self.request.is_light


class Direct:
    """Answers questions that are in order, without the layers of the application.

    What is not in order is left to the application: its route reads the same request, by the same
    rules, and says what is wrong with it.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._crew, self._turns = Crew(service.settings.threads), Turns()
        self._alone = Alone(self._crew)
        self._at_hand = service.ledger.at_hand and service.registry.at_hand
        self._asked = 0  # questions that are being answered
        self._last: Any = None  # the connection that asked last

    @staticmethod
    def table_of(scope: MutableMapping[str, Any]) -> str | None:
        """The table that a question is about, by its address; None if it is no question."""
        place = _PATH.fullmatch(scope["path"])
        return None if place is None or scope["method"] != "POST" else place[1]

    async def answer(
        self, scope: MutableMapping[str, Any], table: str, body: bytes
    ) -> bytes | None:
        """The answer to a question, as JSON; None leaves the request to the application."""
        asked = _read(scope["headers"], table, body, self._service.settings.json_depth)
        if asked is None:
            return None
        scope["route"] = _ROUTE
        self._asked += 1
        try:
            workers = self._workers(asked, scope.get("client"))
            content: bytes = await workers.run(partial(self._work, scope["state"], asked))
        finally:
            self._asked -= 1
        return content

    def _workers(self, asked: _Asked, connection: Any) -> Alone | Turns | Crew:
        """Who answers: of several connections that ask by turns, none is alone."""
        again, self._last = connection == self._last, connection
        if not (asked.is_light and self._service.tables.at_hand(asked.table)):
            return self._crew
        return self._alone if again and self._asked == 1 and self._at_hand else self._turns

    def _work(self, caller: MutableMapping[str, Any], asked: _Asked) -> bytes:
        who, what = caller["analyst"], (asked.table, asked.request, asked.key)
        answer = questions.query(self._service, who, *what, grant=caller.get("grant"))
        return answer.to_json().encode()

    def close(self) -> None:
        self._alone.close()
        self._crew.close()
        self._turns.close()


def _read(headers: list[tuple[bytes, bytes]], table: str, body: bytes, depth: int) -> _Asked | None:
    kinds = [value for name, value in headers if name == b"content-type"]
    keys = [value.decode("latin-1") for name, value in headers if name == _HEADER]
    if kinds != [b"application/json"] or len(keys) > 1 or not all(map(_KEY.fullmatch, keys)):
        return None
    request = (_request_kept if len(body) <= _LONGEST_KEPT else _request)(body, depth)
    return None if request is None else _Asked(table, request, keys[0] if keys else None)


def _request(body: bytes, depth: int) -> documents.QueryRequest | None:
    try:
        return documents.QueryRequest.model_validate(strict_json.parse(body, depth))
    except (strict_json.Refused, ValidationError):
        return None


_request_kept = lru_cache(_MOST_KEPT)(_request)
