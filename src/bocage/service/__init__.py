"""The service: analysts ask over HTTP with a key and a budget; the rows stay with their owner.

::

    server ── worker processes ──> app ── the routes of api and web, errors of one shape
    middleware ── keys, rates, sizes, and when answers leave ──> fast_path, or the routes of app
    api | web ── JSON for programs, pages for people ──> core
    core ── questions, jobs, accounts: what the service does, whoever asks
    settings ── what the owner has decided
"""
