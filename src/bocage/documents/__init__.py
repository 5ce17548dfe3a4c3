"""Documents: strict JSON in, canonical bytes and their hash out.

::

    bytes from anywhere ── reading.parse: scan, then json ──> plain data
    plain data ── writing.canonical ──> bytes ── writing.digest ──> the hash that names them
"""
