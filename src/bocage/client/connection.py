"""Where an analyst begins: an address and a key."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from bocage.client.executor import RemoteExecutor
from bocage.client.jobs import Job, fetch
from bocage.client.table import RemotePartition, RemoteTable
from bocage.client.transport import Transport, document
from bocage.errors import AccessDenied, PlanError, ServiceError
from bocage.mechanisms import Adjacency
from bocage.model import Released
from bocage.parties import Contribution, PartyPlan
from bocage.plan.documents import step_of
from bocage.private.query import Terms
from bocage.private.steps import follow
from bocage.private.table import WHOLE
from bocage.schema import Schema

KEY_VARIABLE = "BOCAGE_KEY"
_PAGE = 1000
Line = TypeVar("Line")


@dataclass(frozen=True)
class AccountLine:
    """What one analyst has of one table; amounts of epsilon are decimal texts."""

    table: str
    cap: str
    spent: str
    remaining: str
    state: str


@dataclass(frozen=True)
class Me:
    """Who asks, and what is left of each table."""

    analyst: str
    tables: tuple[AccountLine, ...]


@dataclass(frozen=True)
class ModelLine:
    """One model of the analyst. `dry_run` marks one that was made from made-up rows."""

    id: str
    table: str
    learner: str
    epsilon: str | None
    format: str
    job: str
    dry_run: bool
    created: str


@dataclass(frozen=True)
class LedgerLine:
    """One line of the ledger about the analyst's own account."""

    number: int
    time: str
    action: str
    scope: tuple[str, ...]
    epsilon: str
    memo: str
    request: str | None


def connect(
    url: str,
    key: str | None = None,
    *,
    timeout_seconds: float = 60.0,
    patience_seconds: float = 60.0,
    ca: str | os.PathLike[str] | None = None,
    plain: bool = False,
) -> Connection:
    """Reach the tables of a service with a key.

    Parameters
    ----------
    url
        Address of the service, such as ``https://bocage.example``.
    key
        The analyst's key; without it the environment variable BOCAGE_KEY.
    timeout_seconds
        How long one request may take.
    patience_seconds
        For how long a request that gets no answer is made again. It is charged once, however often
        it is made.
    ca
        A file with the certificate of the authority that signed the service's, if the system does
        not know it. Certificates are always verified.
    plain
        Allow ``http://`` to another computer, where everyone on the way can read key and answers.
        To this computer it is allowed anyway.

    Raises
    ------
    AccessDenied
        The service does not know the key.
    Unreachable
        Nobody answers at the address.
    """
    secret = key if key is not None else os.environ.get(KEY_VARIABLE, "")
    if not secret.strip() or not secret.isascii() or not secret.isprintable():
        raise AccessDenied(f"a connection needs the key that the data owner gave out: pass it, or set {KEY_VARIABLE}.")
    _check_address(url, plain=plain)
    link = Transport(
        url,
        secret.strip(),
        timeout_seconds=timeout_seconds,
        patience_seconds=patience_seconds,
        ca=None if ca is None else os.fspath(ca),
    )
    try:
        return Connection(link)
    except BaseException:
        link.close()
        raise


class Connection:
    """A service as one analyst sees it. ``connection["people"]`` is a table.

    The same interface as local tables: a program that takes a table runs on either.
    """

    def __init__(self, link: Transport) -> None:
        self._link = link
        self._analyst = self.me().analyst  # knows at once whether address, version and key fit

    def me(self) -> Me:
        """Who asks, and what is left of each table."""
        document = self._link.get("me")
        me = _line(Me, document)
        return Me(me.analyst, tuple(_line(AccountLine, account) for account in document["tables"]))

    def tables(self) -> tuple[str, ...]:
        """The names of the tables that may be asked."""
        return tuple(account.table for account in self.me().tables)

    def table(self, name: str) -> RemoteTable:
        """A table, to be asked as a local one."""
        facts = self._link.get("tables", name)
        try:
            terms = Terms(Schema.from_dict(facts["schema"]), Adjacency(facts["adjacency"]), facts["batch"])
        except (KeyError, TypeError, ValueError):
            raise ServiceError(
                f"what the service says about table {name!r} is not in the form of version 1: "
                "client and service do not fit."
            ) from None
        is_moving = facts.get("moving") is not False  # a price that is too high does no harm
        return RemoteTable(RemoteExecutor(self._link, name, terms, is_moving=is_moving), WHOLE)

    def __getitem__(self, name: str) -> RemoteTable:
        return self.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables())

    def partition(self, handle: str) -> RemotePartition:
        """A partition that was kept with :meth:`RemotePartition.keep`."""
        kept = self._link.get("partitions", handle)
        try:
            steps = [step_of(step) for step in kept["plan"]]
        except (PlanError, TypeError, KeyError):
            raise ServiceError(f"this client does not know all steps of partition {handle!r}: it is too old.") from None
        partition = follow(self.table(kept["table"]), steps, self.model)
        if not isinstance(partition, RemotePartition) or partition.keys() != tuple(kept["keys"]):
            raise ServiceError(f"partition {handle!r} does not fit its table any more.")
        return partition.kept(handle)

    def jobs(self) -> list[Job]:
        """The last thousand jobs of this analyst, whichever program started them."""
        return [Job(self._link, document) for document in self._link.get("jobs", limit=_PAGE)]

    def job(self, id: str) -> Job:  # noqa: A002 - the word that the service uses
        """One job by its id."""
        return Job(self._link, self._link.get("jobs", id))

    def models(self) -> list[ModelLine]:
        """The last thousand models of this analyst."""
        return [_line(ModelLine, model) for model in self._link.get("models", limit=_PAGE)]

    def model(self, id: str) -> Released:  # noqa: A002 - the word that the service uses
        """One model by its id: the same frozen model as from a local table."""
        return fetch(self._link, id)

    def ledger(self) -> list[LedgerLine]:
        """The lines of the ledger about this analyst's accounts."""
        lines: list[LedgerLine] = []
        after: int | None = 0
        while after is not None:
            page = self._link.get("ledger", after=after, limit=_PAGE)
            lines += [_line(LedgerLine, entry) for entry in page["lines"]]
            after = page["next"]
        return lines

    def contribute(self, table: str, plan: PartyPlan, party: str) -> Contribution:
        """Have the owner of a table follow a plan of several owners; returns the signed counts.

        Privacy
        -------
        The party's share of epsilon is charged to this analyst's account. Asked again, the same
        contribution comes back, free.
        """
        body = {"party": party, "plan": document(plan.to_json())}
        return Contribution.from_bytes(self._link.post("tables", table, "contribute", body=body))

    def close(self) -> None:
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection to {self._link.url} as {self._analyst!r}>"


def _line(kind: type[Line], document: Any) -> Line:
    """Read a document; members that a newer service adds are left out."""
    try:
        values = {field.name: document[field.name] for field in fields(kind)}  # type: ignore[arg-type] # all lines are dataclasses
    except (KeyError, TypeError):
        raise ServiceError(
            f"a {kind.__name__} is not in the form of version 1: client and service do not fit."
        ) from None
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})


def _check_address(url: str, *, plain: bool) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise PlanError(f"the address of a service begins with https://, not {url[:80]!r}.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PlanError("the address of a service has no user, query or fragment; the key is apart.")
    if parts.scheme == "http" and not plain and not _is_this_computer(parts.hostname):
        raise ServiceError(
            f"http:// to {parts.hostname} would show the key and all answers to everyone on the way. "
            "Use https://, or plain=True where the way is protected otherwise."
        )


def _is_this_computer(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
