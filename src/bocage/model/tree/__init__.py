"""Trees and forests: flat arrays that route rows.

::

    builder     nodes in any order, frozen into a tree
    shape       which arrays make a tree
    tree        one tree           ┐ routing sends the rows from the root to where they end
    forest      trees that vote    ┘
    paths       the way from the root to a node as conditions on columns
"""
