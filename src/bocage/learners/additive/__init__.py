"""Additive models: one small table per attribute, and corrections by tables of a few."""
