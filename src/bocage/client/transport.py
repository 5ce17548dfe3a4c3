"""Requests that are made again until they are answered, and charge once."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from bocage import errors
from bocage._version import __version__
from bocage.errors import (
    AccessDenied,
    BocageError,
    BudgetExceeded,
    EngineError,
    LedgerBusy,
    RateLimited,
    ServiceError,
    Unavailable,
    Unreachable,
)

PREFIX = "/v1"
_AGAIN = (RateLimited, Unavailable, Unreachable, LedgerBusy)  # may be well in a moment
_OPEN = (*_AGAIN, EngineError)  # no answer yet: made again, it is still the same request
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 5.0
_ERRORS = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, BocageError)
}

# As BudgetExceeded writes it: its attributes are the same on either side.
_AMOUNTS = re.compile(
    r"epsilon=(?P<asked>\S+) was asked, but (?P<scope>.+) has (?P<left>\S+) left of (?P<cap>[\d.]+)\. "
)


class Transport:
    """One service as one analyst reaches it. Safe to share between threads.

    A request that gets no answer is made again, later and later, until `patience_seconds` have
    passed. Every POST carries an idempotency key, the same however often it is made, by which the
    service knows that it is one request. If all patience is in vain, the key is kept: the same
    request made later by the program is still the same request.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_seconds: float,
        patience_seconds: float,
        ca: str | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.patience_seconds = patience_seconds
        self._unanswered: dict[bytes, str] = {}
        self._http = httpx.Client(
            base_url=self.url + PREFIX,
            headers={"Authorization": f"Bearer {key}", "User-Agent": f"bocage/{__version__}"},
            timeout=httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, 10.0)),
            verify=httpx.create_ssl_context(ca) if ca is not None else True,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        )

    def get(self, *path: str, patience: float | None = None, **query: str | int) -> Any:
        return document(self.send("GET", path, query=query, patience=patience))

    def delete(self, *path: str) -> None:
        self.send("DELETE", path)

    def post(self, *path: str, body: dict[str, Any]) -> bytes:
        """Make a request that may charge: once, however often it is sent."""
        content = json.dumps(body, sort_keys=True).encode()
        name = hashlib.sha256(json.dumps(path).encode() + content).digest()
        key = self._unanswered.pop(name, None) or uuid.uuid4().hex
        try:
            return self.send("POST", path, content=content, key=key)
        except BaseException as error:  # an interrupt, too, leaves the question open
            if isinstance(error, _OPEN) or not isinstance(error, BocageError):
                self._unanswered[name] = key
            raise

    def read(self, *path: str, body: dict[str, Any], patience: float | None = None) -> bytes:
        """Look at something that takes a document to say; it charges nothing."""
        return self.send("POST", path, content=json.dumps(body).encode(), patience=patience)

    def send(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        query: dict[str, str | int] | None = None,
        content: bytes | None = None,
        key: str | None = None,
        patience: float | None = None,
    ) -> bytes:
        """Make one request until it is answered; raise what the service refuses."""
        headers = {"Content-Type": "application/json"} if content is not None else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        started, tries = time.monotonic(), 0
        limit = self.patience_seconds if patience is None else patience
        while True:
            wait: float | None = None
            try:
                answer = self._http.request(
                    method, _address(path), params=query or None, content=content, headers=headers
                )
            except httpx.TransportError as error:
                problem: BocageError = self._silence(error, method)
            else:
                if answer.is_success:
                    return answer.content
                problem = self._refused(answer)
                wait = _asked_delay(answer)
            if not isinstance(problem, _AGAIN):
                raise problem
            tries += 1
            delay = wait if wait is not None else _delay(tries)
            if time.monotonic() - started + delay > limit:
                raise problem
            time.sleep(delay)

    @contextmanager
    def stream(self, *path: str, last: str | None = None) -> Iterator[Iterator[str]]:
        """The lines of an event stream, as they come."""
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        with self._http.stream("GET", _address(path), headers=headers) as answer:
            kind = answer.headers.get("content-type", "")
            if not answer.is_success or not kind.startswith("text/event-stream"):
                raise httpx.RemoteProtocolError("no stream of events")
            yield answer.iter_lines()

    def close(self) -> None:
        self._http.close()

    def _silence(self, error: httpx.TransportError, method: str) -> Unreachable:
        what = f"{self.url} did not answer ({type(error).__name__})."
        if method != "POST":
            return Unreachable(f"{what} Is the service running, and the address right?")
        return Unreachable(
            f"{what} Whether the question was charged is not known. Ask the same again on this "
            "connection: it is sent as the same request and charged once."
        )

    def _refused(self, answer: httpx.Response) -> BocageError:
        try:
            body = answer.json()["error"]
        except (ValueError, KeyError, TypeError):
            return self._foreign(answer.status_code)
        return refusal(body)

    def _foreign(self, status: int) -> ServiceError:
        """What is no document of ours comes from something else at this address."""
        if status in {502, 503, 504}:
            return Unreachable(f"{self.url} is not available now (status {status}).")
        if status in {401, 403}:
            return AccessDenied(f"{self.url} refuses the key (status {status}).")
        return ServiceError(
            f"{self.url} does not answer as a Bocage service of version 1 (status {status}). Check "
            "the address, and that service and client are of the same version."
        )

    def __repr__(self) -> str:
        return f"<Transport to {self.url}>"


def document(content: bytes) -> Any:
    """JSON as the service writes it."""
    try:
        return json.loads(content)
    except ValueError:
        raise ServiceError("the answer is no JSON document: this is not a Bocage service of version 1.") from None


def refusal(body: Any) -> BocageError:
    """The error that a local table would raise, from the document that it travels as.

    Its hint is about HTTP, for those who write requests themselves, and is left out.
    """
    if not isinstance(body, dict) or not isinstance(body.get("message"), str):
        return ServiceError("the service refused without saying why.")
    kind = _ERRORS.get(str(body.get("code")), ServiceError)
    message = body["message"]
    error = kind.__new__(kind)  # some take more than a message to be made, and have made it there
    Exception.__init__(error, message)
    if isinstance(error, BudgetExceeded):
        told = _AMOUNTS.match(message)
        amounts = told.groupdict() if told else dict.fromkeys(_AMOUNTS.groupindex, "")
        vars(error).update(amounts)
    return error


def _address(path: tuple[str, ...]) -> str:
    return "/" + "/".join(quote(part, safe="") for part in path)


def _delay(tries: int) -> float:
    """Later and later; not all who lost the service at once come back at once."""
    longest = min(_FIRST_DELAY * 2.0 ** (tries - 1), _LONGEST_DELAY)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, hides nothing


def _asked_delay(answer: httpx.Response) -> float | None:
    """How long the service asks to wait, if it does."""
    try:
        asked = float(answer.headers["Retry-After"])
    except (KeyError, ValueError):
        return None
    return max(asked, _FIRST_DELAY) if asked < 3600 else None
