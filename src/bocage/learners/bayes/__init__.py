"""Tables of noisy counts: naive Bayes, or a joint fit to all tables."""
