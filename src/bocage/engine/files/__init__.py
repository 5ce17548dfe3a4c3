"""Files: held open, read as relations of DuckDB; and what only their owner may see of them."""
