"""A whole model from one draw: one exponential mechanism over all models of a family.

    family    which models there are, and how likely each is before a row is read
    space     the sums over all of them, exactly as the draw needs them
    sampler   what is charged and read, and the walk to one model

A `tree` of splits and labels is one family, `score` has two: ordinal scores, and scorecards.
A `mixture` draws among several families; the `temperature` is drawn with the model.
"""
