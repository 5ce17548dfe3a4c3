"""Surveys: the owner's pages, and the page of a participant."""
