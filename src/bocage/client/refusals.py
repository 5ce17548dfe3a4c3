"""A refusal travels as a document; here it becomes the error that a local table would raise."""

from __future__ import annotations

import re
from typing import Any

from bocage import errors
from bocage.errors import BocageError, BudgetExceeded, ServiceError

_ERRORS = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, BocageError)
}

# As BudgetExceeded writes it: its attributes are the same on either side.
_AMOUNTS = re.compile(
    r"epsilon=(?P<asked>\S+) was asked, but (?P<scope>.+) has (?P<left>\S+) left of (?P<cap>[\d.]+)\. "
)


def refusal(body: Any) -> BocageError:
    """The error that a document `{"code": …, "message": …, "hint": …}` stands for."""
    if not isinstance(body, dict) or not isinstance(body.get("message"), str):
        return ServiceError("the service refused without saying why.")
    kind = _ERRORS.get(str(body.get("code")), ServiceError)
    message = body["message"]  # its hint is about HTTP, for those who write requests themselves
    error = kind.__new__(kind)  # some take more than a message to be made, and have made it there
    Exception.__init__(error, message)
    if isinstance(error, BudgetExceeded):
        found = _AMOUNTS.match(message)
        amounts = found.groupdict() if found else dict.fromkeys(_AMOUNTS.groupindex, "")
        vars(error).update(amounts)
    return error
