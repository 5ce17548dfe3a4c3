"""The routes, one file per resource. They translate; everything else happens elsewhere."""
