"""Requests as strict JSON: no name twice, no NaN, no depth that a stack would feel."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute


class Refused(HTTPException):
    """A body that is no request of ours; shown as `request_invalid`."""

    def __init__(self, message: str) -> None:
        super().__init__(400, message)


def parse(content: bytes, most_depth: int) -> Any:
    """Read JSON, strictly."""
    try:
        text = content.decode("utf-8")
        document = _JSON.decode(text)
    except RecursionError:
        raise Refused(f"the request is nested more than {most_depth} deep.") from None
    except UnicodeDecodeError:
        raise Refused("the request is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Refused(f"the request is not JSON (line {error.lineno}: {error.msg}).") from None
    except ValueError:
        raise Refused("a number in the request has too many digits.") from None
    _check(document, most_depth, most_depth)
    if "\\u" in text:  # an escape may stand for half a character, or for none
        _check_text(json.dumps(document, ensure_ascii=False))
    return document


def _check(value: Any, depth: int, most: int) -> None:
    inside = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        return
    if depth == 0:
        raise Refused(f"the request is nested more than {most} deep.")
    for one in inside:
        if isinstance(one, dict | list):
            _check(one, depth - 1, most)


def _check_text(text: str) -> None:
    if "\\u0000" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise Refused("text in the request has a NUL or half a surrogate pair.")


def _number(text: str) -> int | float:
    """In JSON 2.0 is a whole number."""
    value = float(text)
    return int(value) if abs(value) < 2**53 and value.is_integer() else value


def _refuse(name: str) -> Any:
    raise Refused(f"the request contains {name}, which is no JSON.")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise Refused("a name stands twice in one object of the request.")
    return result


_JSON = json.JSONDecoder(parse_float=_number, parse_constant=_refuse, object_pairs_hook=_no_twins)


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
