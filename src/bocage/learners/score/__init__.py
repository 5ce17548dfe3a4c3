"""Small integer scores: which ones a draw is among, and the models that they are."""
