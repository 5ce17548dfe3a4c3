"""A model for people and other programs; each file has every kind of model in one format.

::

    text, svg          for people: lines of text, the terminal, a drawing
    sql, javascript    for other programs: the same predictions, whole numbers and ties included
    thresholds         the doubles at which codes change, for programs that compare
    json               the file of a model, both ways
"""
