"""Exact integers from rows; the only code that reads them. Engines load when a source needs them.

::

    sources.open_engine   what the owner names ──> the engine that reads it
          │
    base.Engine           the contract: answer, rows, pin, version, close
          │
          ├── reference   plain Python, the definition: every other engine equals it
          ├── memory      an Arrow table or a frame as codes
          ├── duckdb      Parquet, CSV, DuckDB files, also larger than memory   (files/)
          ├── postgres    counted by the server                                 (sql)
          └── spark       counted by many machines                              (spark_tasks, sql)
                 memory, duckdb and spark count with codes/: encode, compile the question, count

    versions, derived_counts   proxies in front of any engine: pins, declared versions, counts
                               that follow from counts
    rows                       codes instead of counts, for a joint fit
    error_wall                 no word of a driver reaches a caller

A new engine implements `base.Engine`. One that takes rows out reads `memory` first and hands its
columns to codes/; one that pushes the counting down reads `postgres` and `sql`. Either keeps its
driver behind `error_wall` and joins the shared suite by a maker in tests/engines.
"""

from bocage.engine.base import Engine
from bocage.engine.sources import open_engine

__all__ = ["Engine", "open_engine"]
