"""What the service does, whoever asks: nothing here knows of HTTP or pages.

::

    documents, question_documents ── a request ──> questions, jobs
    questions ── its steps, as rows ──> tables, accounts: admitted, charged once, answered
    jobs ── learning ──> models, kept by analyst_store
    directory ── settings, ledger, registry and keys of one service ──> owner, service
"""
