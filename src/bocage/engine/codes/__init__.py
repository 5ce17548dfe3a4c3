"""Codes: every value as a small integer, and the loops that count them.

::

    encode, matching    a column of Arrow becomes codes; texts are matched in a compiled loop
    codes               the columns of codes side by side, and how batches get there
    compiled_question   a question as flat arrays: cell of a row, counters of a column
    kernels             the compiled loops over both
    counting            all cores, or NumPy where the rows are few
"""
