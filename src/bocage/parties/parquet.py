"""Large contributions as Parquet: one column of counts, and the header beside it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from bocage.errors import PartyError
from bocage.parties import documents
from bocage.parties.contribution import Contribution, Expected, header_of, with_counts
from bocage.parties.plan import MOST_COUNTS

_KEY = b"bocage"
_MOST_GROUPS = 2**10  # entries of a list in the footer: groups of rows, columns, pages
_SCHEMA = pa.schema([pa.field("count", pa.int64(), nullable=False)])


def to_parquet(contribution: Contribution) -> bytes:
    """Without compression: a reader then needs no more memory than the file and its counts."""
    header = documents.canonical(contribution.header())
    table = pa.table([pa.array(contribution.values)], schema=_SCHEMA.with_metadata({_KEY: header}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def from_parquet(content: bytes, expected: Expected | None = None) -> Contribution:
    """Read what `to_parquet` wrote; refuse anything else before its counts are read."""
    footer = int.from_bytes(content[-8:-4], "little")
    if footer > documents.HEADER.bytes:
        raise PartyError(f"the file is cut short, or its footer has {footer} bytes.")
    try:
        file = pq.ParquetFile(
            pa.BufferReader(content),
            thrift_string_size_limit=documents.HEADER.bytes,
            thrift_container_size_limit=_MOST_GROUPS,
        )
        schema, facts = file.schema_arrow, file.metadata
        if not schema.equals(_SCHEMA) or _KEY not in (schema.metadata or {}):
            raise PartyError("this is a Parquet file, but no contribution.")
        if facts.num_rows > MOST_COUNTS:  # a dictionary makes many of few bytes
            raise PartyError(f"a contribution has at most {MOST_COUNTS} counts.")
        groups = [facts.row_group(i).column(0) for i in range(facts.num_row_groups)]
        if any(group.compression != "UNCOMPRESSED" for group in groups):
            raise PartyError("a contribution is a Parquet file without compression.")
        header = documents.parse(schema.metadata[_KEY], documents.HEADER)
        claimed = header_of(header, expected)
        with documents.about("the contribution is refused"):
            if sum(a * b for a, b in claimed.shapes) != facts.num_rows:
                raise PartyError("its counts are not as many as its shapes say.")
            values = np.asarray(file.read().column(0).to_numpy(), np.int64)
            return with_counts(claimed, values, header["digest"])
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        raise PartyError("the file is cut short, or no Parquet file.") from None
