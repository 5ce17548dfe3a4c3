"""Integer scores: a few whole points for the values of some columns, and a label for each sum of them."""
