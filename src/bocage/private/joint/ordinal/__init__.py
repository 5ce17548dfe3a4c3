"""Ordinal scores: points that climb with the order of values, and a label for each rung."""
