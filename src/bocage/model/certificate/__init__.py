"""What was guaranteed when a model was made.

::

    releases        the lines: what was released, and how their costs add up
    certificate     all lines with the learner, the table and the ledger's entry
    concentrated    the same guarantee through zero-concentrated privacy, with a delta
    statement       the certificate in plain words
"""
