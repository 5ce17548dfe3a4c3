"""Rows as small integers: how values become codes, and the compiled loops that count them."""
