"""The analyst's side of a service: remote tables that are asked like local ones."""

from importlib.util import find_spec

from bocage.errors import ServiceError

if find_spec("httpx") is None:
    raise ServiceError("a connection needs the package httpx, which is not installed: pip install 'bocage[client]'.")

from bocage.client.connection import (
    AccountLine,
    Connection,
    LedgerLine,
    Me,
    ModelLine,
    connect,
)
from bocage.client.jobs import Job
from bocage.client.table import RemotePartition, RemoteTable

__all__ = [
    "AccountLine",
    "Connection",
    "Job",
    "LedgerLine",
    "Me",
    "ModelLine",
    "RemotePartition",
    "RemoteTable",
    "connect",
]
