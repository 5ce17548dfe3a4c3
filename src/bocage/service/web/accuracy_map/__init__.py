"""The accuracy map: drawn once for a schema in a process of its own, shown as a chart."""
