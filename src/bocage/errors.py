"""Everything that Bocage raises on purpose.

::

    BocageError
    ├── SchemaError          a schema is incomplete, contradictory or unreadable
    ├── PlanError            a question names something that the schema does not have
    │   └── PredicateError   a filter cannot be read or does not fit its column
    ├── EpsilonError         a privacy parameter that is not a positive amount of nine decimals
    ├── LedgerError          the ledger refuses, or cannot be used
    │   ├── BudgetExceeded   the charge does not fit; nothing was charged and no row was read
    │   ├── ScopeClosed      the table or the analyst is frozen or revoked
    │   ├── LedgerBusy       another process holds the ledger for too long; nothing was charged
    │   ├── DeclaredTwice    an owner declares of two things what can be true of one
    │   ├── RequestReused    a request's key stands for another charge; nothing was charged
    │   ├── AnswerLost       paid for before the machine went down; it is not drawn a second time
    │   └── LedgerCorrupt    the chain of entries does not verify
    ├── NoiseError           the noise provider does not offer what the question needs
    ├── EngineError          opaque by design: the charge stands, the reason is in the owner's log
    │   └── SourceError      the owner's source cannot be opened as the schema says
    ├── ModelError           a model, its file or the rows given to it do not fit together
    ├── LearnerError         a learner cannot work with these parameters, schema or budget
    ├── PartyError           a plan, key or contribution of several owners is refused
    ├── SurveyError          a survey, a distortion or a distorted record is refused
    ├── EstimatorError       a scikit-learn estimator was given something that does not fit
    ├── ServiceError         a service refuses a request, or does not answer as it should
    │   ├── AccessDenied     the key is missing, unknown or revoked
    │   ├── NotFound         no such table, partition, job or model, or it is another analyst's
    │   ├── RequestInvalid   a request is not of the documented form
    │   ├── RequestConflict  an idempotency key that stands for another request
    │   ├── RateLimited      too many requests with one key; the same request may be made again
    │   ├── Unavailable      the table is not open yet, or the service lost its ledger or registry
    │   ├── Unreachable      no answer came; asked again with the same key, nothing is charged twice
    │   └── JobCancelled     the job was cancelled; its charge stands
    └── RefusedVariant       an unsound variant was asked of a table that has a ledger

Messages name the thing, the rule, the value given (where it is public) and the way out. None of
them carries a private value or an exact count.
"""

from __future__ import annotations


class BocageError(Exception):
    """Base of all errors that Bocage raises on purpose."""


class SchemaError(BocageError):
    """A schema is incomplete, contradictory or unreadable.

    Attributes
    ----------
    at
        Path to the entry that is wrong inside the schema document, such as
        ``("attributes", 2, "lower")``; the reader of files turns it into a line number.
    """

    def __init__(self, message: str, *, at: tuple[str | int, ...] = ()) -> None:
        self.at = at
        super().__init__(message)


class PlanError(BocageError):
    """A question names something that the schema does not have."""


class PredicateError(PlanError):
    """A filter cannot be read or does not fit its column."""


class EpsilonError(BocageError):
    """A privacy parameter is not a positive amount with at most nine decimals."""


class LedgerError(BocageError):
    """The ledger refuses, or cannot be used."""


class DeclaredTwice(LedgerError):
    """Something was declared that was declared of something else before, and can be true of one only.

    Attributes
    ----------
    other
        The term that it was declared of.
    """

    def __init__(self, table: str, term: str, other: str) -> None:
        self.other = other
        super().__init__(f"{table}: {term} are declared the same as {other}, and they cannot be. Nothing was charged.")


class BudgetExceeded(LedgerError):
    """The charge does not fit. Nothing was charged and no row was read.

    Attributes
    ----------
    scope
        Name of the scope that refused: a table, an analyst, a part.
    asked, left, cap
        Amounts as decimal strings.
    """

    def __init__(self, scope: str, *, asked: str, left: str, cap: str) -> None:
        self.scope, self.asked, self.left, self.cap = scope, asked, left, cap
        super().__init__(
            f"epsilon={asked} was asked, but {scope} has {left} left of {cap}. "
            "Lower epsilon, or ask the data owner for more. Nothing was charged."
        )


class ScopeClosed(LedgerError):
    """The table or the analyst is frozen or revoked. Nothing was charged."""


class LedgerBusy(LedgerError):
    """Another process holds the ledger for too long. Nothing was charged."""


class RequestReused(LedgerError):
    """The key of a request stands for another charge. Nothing was charged.

    Attributes
    ----------
    request
        The key.
    entry
        Number of the ledger entry that was charged under it; None inside a reservation.
    """

    def __init__(self, request: str | None, entry: int | None = None) -> None:
        self.request, self.entry = request, entry
        on_record = "" if entry is None else f" (entry {entry})"
        super().__init__(
            f"request {request!r} was made before with another epsilon or memo{on_record}. "
            "Use a new key for a new question. Nothing was charged."
        )


class AnswerLost(LedgerError):
    """Under this key was charged before the machine went down, and the answer may have been given."""


class LedgerCorrupt(LedgerError):
    """The chain of entries does not verify; no charge is accepted."""


class NoiseError(BocageError):
    """The noise provider does not offer what the question needs."""


class EngineError(BocageError):
    """The engine could not answer. The charge stands; the reason is in the owner's log."""


class SourceError(EngineError):
    """The owner's source cannot be opened as the schema says."""


class ModelError(BocageError):
    """A model, its file or the rows given to it do not fit together."""


class LearnerError(BocageError):
    """A learner cannot work with these parameters, this schema or this budget."""


class PartyError(BocageError):
    """A plan, a key or a contribution of several owners is refused. Nothing was merged."""


class SurveyError(BocageError):
    """A survey, a distortion, a person's answers or distorted records are refused.

    It is raised on the machine of whoever holds the answers, and shows none of them.
    """


class EstimatorError(BocageError, ValueError):
    """A scikit-learn estimator was given parameters or rows that do not fit its schema."""


class ServiceError(BocageError):
    """A service refuses a request, or does not answer as it should."""


class AccessDenied(ServiceError):
    """The key is missing, unknown or revoked."""


class NotFound(ServiceError):
    """There is no such table, partition, job or model, or it is another analyst's."""


class RequestInvalid(ServiceError):
    """A request is not of the form that the interface documents. Nothing was charged."""


class RequestConflict(ServiceError):
    """The idempotency key stands for another request. Nothing was charged."""


class RateLimited(ServiceError):
    """Too many requests with one key. The same request may be made again a little later."""


class Unavailable(ServiceError):
    """The table is not open yet, or the service cannot use its ledger or registry now."""


class Unreachable(ServiceError):
    """No answer came from the service, however often it was asked."""


class JobCancelled(ServiceError):
    """The job was cancelled. Its charge stands; there is no model."""


class RefusedVariant(BocageError):
    """An unsound variant was asked of a table that has a ledger."""
