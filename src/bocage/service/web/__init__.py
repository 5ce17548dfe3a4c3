"""The pages: server-rendered, with small modules of our own; no address but this service's."""
