"""Files as tables: what the DuckDB engine reads, and the owner's own look at a file.

::

    held_files    the files held open, so that a replacement changes nothing of what is read
    text          delimited text, checked as a whole by its grammar, then read piece by piece
    relation      the table as DuckDB reads it, and the encoder of each column
    version       one version of the files: answers from codes in memory, or from a stream
    draft         without noise, for the owner: a schema proposed, a file checked against one
"""
