"""Whole trees: the space of trees that could grow from some rows, its sums, and the draw."""
