"""The short way of a question: most requests are one, and most of them are in order."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bocage.service import bodies, queries, wire
from bocage.service.alone import Alone
from bocage.service.crew import Crew
from bocage.service.turns import Turns

if TYPE_CHECKING:
    from bocage.service.service import Service

_PATH = re.compile(rf"/v1/tables/({wire.NAME_PATTERN})/query")
_LIGHT, _MOST_LIGHT_STEPS = {"noisy_count", "noisy_sum", "noisy_avg"}, 8
_LONGEST_KEPT, _MOST_KEPT = 2**12, 256  # bodies that are not read again
_HEADER, _KEY = b"idempotency-key", re.compile(wire.KEY_PATTERN)


@dataclass(frozen=True)
class _Route:
    """What log and metrics call the way."""

    path: str = "/v1/tables/{table}/query"


_ROUTE = _Route()


@dataclass(frozen=True)
class _Asked:
    """A question as it came, read and checked."""

    table: str
    request: wire.QueryRequest
    key: str | None

    @property
    def is_light(self) -> bool:
        """Whether one number is asked for: nobody waits long for its noise."""
        steps, ask = self.request.plan, self.request.ask
        return (
            self.request.mode == "release"
            and ask.kind in _LIGHT
            and len(steps) <= _MOST_LIGHT_STEPS
            and all(step.op in {"where", "partition", "part"} for step in steps)
            and (not steps or steps[-1].op != "partition")
        )


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

    async def answer(
        self,
        scope: MutableMapping[str, Any],
        body: bytes,
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> bool:
        """Answer a question, or leave the request alone; whether it was answered."""
        asked = _read(scope, body, self._service.settings.json_depth)
        if asked is None:
            return False
        scope["route"] = _ROUTE
        analyst = scope["state"]["analyst"]
        self._asked += 1
        try:
            workers = self._workers(asked, scope.get("client"))
            content = await workers.run(partial(self._work, analyst, asked))
        finally:
            self._asked -= 1
        headers = [
            (b"content-length", str(len(content)).encode()),
            (b"content-type", b"application/json"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})
        return True

    def _workers(self, asked: _Asked, connection: Any) -> Alone | Turns | Crew:
        """Who answers: of several connections that ask by turns, none is alone."""
        again, self._last = connection == self._last, connection
        if not (asked.is_light and self._service.tables.at_hand(asked.table)):
            return self._crew
        return self._alone if again and self._asked == 1 and self._at_hand else self._turns

    def _work(self, analyst: str, asked: _Asked) -> bytes:
        answer = queries.query(self._service, analyst, asked.table, asked.request, asked.key)
        return answer.to_json().encode()

    def close(self) -> None:
        self._crew.close()
        self._turns.close()


def _read(scope: MutableMapping[str, Any], body: bytes, depth: int) -> _Asked | None:
    place = _PATH.fullmatch(scope["path"])
    if place is None or scope["method"] != "POST":
        return None
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    keys = [value.decode("latin-1") for name, value in scope["headers"] if name == _HEADER]
    if kinds != [b"application/json"] or len(keys) > 1 or not all(map(_KEY.fullmatch, keys)):
        return None
    request = (_request_kept if len(body) <= _LONGEST_KEPT else _request)(body, depth)
    return None if request is None else _Asked(place[1], request, keys[0] if keys else None)


def _request(body: bytes, depth: int) -> wire.QueryRequest | None:
    try:
        return wire.QueryRequest.model_validate(bodies.parse(body, depth))
    except (bodies.Refused, ValidationError):
        return None


_request_kept = lru_cache(_MOST_KEPT)(_request)
