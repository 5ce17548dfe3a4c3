"""The HTTP interface, one file per resource. Routes translate; everything else happens in `core`."""
