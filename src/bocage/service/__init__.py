"""The service: analysts ask over HTTP with a key and a budget; the rows stay with their owner."""
