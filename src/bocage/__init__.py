"""Bocage learns decision trees and forests from records that the learner may not see.

The names below load what they need when they are first used, so that ``import bocage`` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bocage._version import __version__

if TYPE_CHECKING:
    from bocage.accounting import Ledger, open_ledger
    from bocage.client import connect
    from bocage.epsilon import Epsilon
    from bocage.plan import col
    from bocage.private import (
        Answer,
        PrivatePartition,
        PrivateTable,
        ProtectedTable,
        protect,
        study,
    )
    from bocage.schema import Schema

_HOME = {
    "Answer": "bocage.private",
    "Epsilon": "bocage.epsilon",
    "Ledger": "bocage.accounting",
    "PrivatePartition": "bocage.private",
    "PrivateTable": "bocage.private",
    "ProtectedTable": "bocage.private",
    "Schema": "bocage.schema",
    "col": "bocage.plan",
    "connect": "bocage.client",
    "open_ledger": "bocage.accounting",
    "protect": "bocage.private",
    "study": "bocage.private",
}

__all__ = [
    "Answer",
    "Epsilon",
    "Ledger",
    "PrivatePartition",
    "PrivateTable",
    "ProtectedTable",
    "Schema",
    "__version__",
    "col",
    "connect",
    "open_ledger",
    "protect",
    "study",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bocage' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
