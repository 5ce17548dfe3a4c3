"""Requests as strict JSON: no name twice, no NaN, no depth that a stack would feel."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from math import isfinite
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from bocage.documents import reading
from bocage.documents.reading import Limits, Unreadable


class Refused(HTTPException):
    """A body that is no request of ours; shown as `request_invalid`."""

    def __init__(self, message: str) -> None:
        super().__init__(400, message)


def parse(content: bytes, most_depth: int) -> Any:
    """Read JSON, strictly."""
    limits = Limits(bytes=max(len(content), 1), depth=most_depth)  # the gate has counted the bytes
    try:
        document = reading.parse(content, limits, number=_number)
    except Unreadable as error:
        where = f" (line {error.line})" if error.line else ""
        raise Refused(f"the request is refused: {error.problem}{where}.") from None
    if b"\\u0000" in content and "\\u0000" in json.dumps(document):
        raise Refused("a text in the request has a NUL.")
    return document


def _number(text: str) -> int | float:
    """In JSON 2.0 is a whole number."""
    value = float(text)
    if not isfinite(value):
        raise Unreadable("a number in it is too large")
    return int(value) if abs(value) < 2**53 and value.is_integer() else value


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:
        return parse(await self.body(), self.app.state.service.settings.json_depth)


class StrictRoute(APIRoute):
    """A route that reads its body strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strict
