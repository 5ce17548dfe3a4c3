"""Exact integers from rows; the only code that reads them. Engines load when a source needs them."""

from bocage.engine.base import Engine
from bocage.engine.sources import open_engine

__all__ = ["Engine", "open_engine"]
