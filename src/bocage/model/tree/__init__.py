"""Trees and forests: flat arrays that route rows, how they are built, and the paths in them."""
