"""Documents: strict JSON in, canonical bytes and their hash out, files as a whole.

::

    file ── files.Files.read ──> bytes, no more than allowed
    bytes from anywhere ── reading.parse: scan, then json ──> plain data
    plain data ── entries.Entries ──> checked entries, or the error of the room that asks
    plain data ── writing.canonical ──> bytes ── writing.digest ──> the hash that names them
    bytes ── files.Files.write ──> a file that is there as a whole or not at all

Each room passes the class of its errors. What a process wrote itself into its own database, and a
text inside SQL, HTML or JavaScript, is no document: there `json` is used directly.
"""
