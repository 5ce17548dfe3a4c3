"""Additive models: small tables of scores that are added up."""
