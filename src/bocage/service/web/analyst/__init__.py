"""The analyst's console."""
