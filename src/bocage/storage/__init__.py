"""Databases that several threads, processes and hosts write to at once: SQLite files and PostgreSQL.

::

    who writes ──> Store.do, Store.write      store            connections, transactions, forks
                         │
                      Writers                 group_commit     threads share a transaction, and one
                         │                                     wait for the disk
                    Transaction ──> SQL       store
                         │
            SQLiteStore, PostgresStore        sqlite, postgres

A subclass says what it keeps: `recognize` refuses another database, `before_write` refuses a
transaction, `transaction` gives it fields of its own, and `after_commit` has the last word before
anybody hears that a change was made.

This room knows nothing of accounts. Its errors are ledger errors that say whether a charge may
stand, because the questions that wait for any of these stores are those that charge.
"""

from bocage.storage.group_commit import MOST_TOGETHER, Change, Writers
from bocage.storage.postgres import PostgresStore
from bocage.storage.sqlite import Connection, SQLiteStore
from bocage.storage.store import Run, Store, Transaction, Value

__all__ = [
    "MOST_TOGETHER",
    "Change",
    "Connection",
    "PostgresStore",
    "Run",
    "SQLiteStore",
    "Store",
    "Transaction",
    "Value",
    "Writers",
]
