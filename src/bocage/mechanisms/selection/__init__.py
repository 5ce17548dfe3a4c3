"""Private selection: one of a few candidates, or one of very many, exactly by its law."""
