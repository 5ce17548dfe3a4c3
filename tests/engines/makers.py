"""Which engines the shared suite runs on. A maker puts columns of Python values behind an engine.

Local makers stand in ``makers_local``, those that need a server or a Java runtime in
``makers_server``; both register here by import in ``conftest``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from bocage.engine.base import Engine
from bocage.schema import Schema

Columns = Mapping[str, Sequence[Any]]
# (columns, schema, pytest's request) -> engine, closed at the end of the block
Maker = Callable[[Columns, Schema, Any], AbstractContextManager[Engine]]
MAKERS: dict[str, Maker] = {}
