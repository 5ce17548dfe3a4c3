"""Scorecards: a few small whole points for each value, and a threshold."""
