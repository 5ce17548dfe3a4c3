"""A refusal travels as a document; here it becomes the error that a local table would raise."""

from __future__ import annotations

import re
from typing import Any

from bocage import errors
from bocage.errors import BocageError, ServiceError

_ERRORS = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, BocageError)
}


def refusal(body: Any) -> BocageError:
    """The error that a document `{"code": …, "message": …, "hint": …}` stands for."""
    if not isinstance(body, dict) or not isinstance(body.get("message"), str):
        return ServiceError("the service refused without saying why.")
    kind = _ERRORS.get(str(body.get("code")), ServiceError)
    hint = body.get("hint")
    message = body["message"]
    if isinstance(hint, str) and hint and hint not in message:
        message = f"{message} {hint}"
    error = kind.__new__(kind)  # some take more than a message to be made, and have made it there
    Exception.__init__(error, message)
    facts = body.get("facts")
    for name, value in facts.items() if isinstance(facts, dict) else ():
        setattr(error, str(name), value)
    return error
