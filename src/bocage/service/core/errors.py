"""One shape for all errors, and what an analyst may hear of them.

Before the charge an error says what is wrong and what helps. After it there is one opaque error,
whatever happened: the owner's log has the kind of failure, never a datum.
"""

from __future__ import annotations

import logging
import re

from bocage import errors
from bocage.errors import BocageError, EngineError
from bocage.service.core import documents
from bocage.service.core.limits import Limited
from bocage.service.core.strict_json import Refused

_LOG = logging.getLogger("bocage.service")

# The most specific class that is listed decides.
_STATUS: dict[type[BocageError], int] = {
    Refused: 400,
    errors.AccessDenied: 401,
    errors.NotFound: 404,
    errors.RequestInvalid: 422,
    errors.RequestConflict: 409,
    errors.RateLimited: 429,
    errors.Unavailable: 503,
    errors.ScopeClosed: 403,
    errors.BudgetExceeded: 403,
    errors.LedgerBusy: 503,
    errors.AnswerLost: 409,
    errors.LedgerError: 503,
    errors.EngineError: 503,
    errors.RefusedVariant: 403,
    errors.BocageError: 400,
}
_HINTS: dict[type[BocageError], str] = {
    errors.AccessDenied: "Send the header Authorization: Bearer bocage_… with a key of the owner.",
    errors.NotFound: "What belongs to another analyst is not found either.",
    errors.RequestInvalid: "GET /v1/openapi.json describes every request.",
    errors.RequestConflict: "Take a new idempotency key for a new request.",
    errors.RateLimited: "Wait as long as the header Retry-After says.",
    errors.Unavailable: "Send the same request again later, with the same idempotency key.",
    errors.ScopeClosed: "Ask the data owner.",
    errors.BudgetExceeded: "Lower epsilon, or ask the data owner for more.",
    errors.AnswerLost: "Ask again with a new idempotency key: it is a new question.",
    errors.LedgerError: "Send the same request again later, with the same idempotency key.",
    errors.EngineError: "GET /v1/ledger shows the charge. Tell the data owner.",
    errors.RefusedVariant: "Take the sound variant.",
    errors.LearnerError: "GET /v1/learners lists all learners and their parameters.",
    errors.SchemaError: "GET /v1/tables/{table} shows the schema.",
    errors.PlanError: "GET /v1/tables/{table} shows the schema.",
    errors.EpsilonError: 'Write epsilon as 0.1 or "0.1", with at most nine decimals.',
}
# Their texts name files, addresses or reasons that are the owner's business.
_OPAQUE: dict[type[BocageError], str] = {
    errors.LedgerBusy: "the ledger is busy. Nothing was charged.",
    errors.LedgerCorrupt: "the ledger does not verify, so nothing is charged to it.",
    errors.LedgerError: "the ledger or the registry cannot be used now.",
    errors.SourceError: "the table cannot be read now.",
}
AFTER_CHARGE = EngineError("the question could not be answered. The charge stands; the reason is in the owner's log.")
INTERNAL = documents.ErrorBody(
    code="internal_error",
    message="the service failed. The reason is in the owner's log.",
    hint="Tell the data owner.",
)


def status_of(error: BocageError) -> int:
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def body_of(error: BocageError) -> documents.ErrorBody:
    """What an analyst hears."""
    kinds = type(error).__mro__
    hint = next((_HINTS[kind] for kind in kinds if kind in _HINTS), "")
    message = str(error)
    if type(error) in _OPAQUE:
        _LOG.error("%s: %s", type(error).__name__, message)
        message = _OPAQUE[type(error)]
    return documents.ErrorBody(code=code_of(type(error)), message=message, hint=hint)


def headers_of(error: BocageError) -> dict[str, str]:
    """What goes with a refusal besides its body."""
    if isinstance(error, Limited):
        return {"retry-after": str(error.seconds)}
    if isinstance(error, errors.AccessDenied):
        return {"www-authenticate": "Bearer"}
    return {"retry-after": "1"} if status_of(error) == 503 else {}


def code_of(kind: type[BaseException]) -> str:
    """The name of the public class in snake case."""
    public = next(base for base in kind.__mro__ if base.__module__ == errors.__name__)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", public.__name__).lower()


def place_of(error: BaseException) -> str:
    """File and line where something was raised, without a word of what it says."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f"at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
