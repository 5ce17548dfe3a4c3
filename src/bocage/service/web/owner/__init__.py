"""The owner's console."""
