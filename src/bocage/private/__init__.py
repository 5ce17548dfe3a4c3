"""The privacy layer: charges, counts, adds noise, releases. Only here do rows and noise meet."""

from bocage.private.answer import Answer, Item, Kind
from bocage.private.criteria import CRITERIA, Criterion
from bocage.private.owner import ProtectedTable, protect, study
from bocage.private.partition import PrivatePartition
from bocage.private.table import PrivateTable

__all__ = [
    "CRITERIA",
    "Answer",
    "Criterion",
    "Item",
    "Kind",
    "PrivatePartition",
    "PrivateTable",
    "ProtectedTable",
    "protect",
    "study",
]
