"""What has been spent: exact, durable, append-only, O(1) per charge.

::

    a question ──> Account        account            one scope, as a question sees it
                      │           memory             the same inside what a learner reserved
                   Ledger         ledger             what owners and questions do
                      │           ledger_factory     opens one, wherever it is kept
       ┌──────────────┼─────────────────┐
    decide         record             keep
    scope          entry              ledger_store      a transaction; secret and anchor
    algebra        chain              sqlite_ledger     a file, which is one file at one place:
    declaration    answers              sqlite_file       how it is made
                   machine_run          file_location     where it is
                   sql_schema         postgres_ledger   a database for several hosts
                                      secret, anchor    what is kept against forgers and old copies

    verification replays a chain, or an export of it, and says whether all of that is whole

`algebra` alone says what an action does to balances. `chain` applies it in one transaction that
holds the write lock, and writes the entry, its hash and the balances together. Connections and
commits are the business of `storage`.
"""

from bocage.accounting.account import Account, LedgerAccount
from bocage.accounting.algebra import (
    Action,
    Balance,
    State,
    path_balances,
    remaining,
    transition,
)
from bocage.accounting.anchor import known_head
from bocage.accounting.declaration import Declaration
from bocage.accounting.entry import Entry
from bocage.accounting.ledger import Ledger
from bocage.accounting.ledger_factory import open_ledger
from bocage.accounting.memory import MemoryAccount
from bocage.accounting.scope import Scope, ScopeKind
from bocage.accounting.sqlite_ledger import move_ledger
from bocage.accounting.verification import (
    Head,
    Verification,
    export_head,
    export_lines,
    verify_export,
)

__all__ = [
    "Account",
    "Action",
    "Balance",
    "Declaration",
    "Entry",
    "Head",
    "Ledger",
    "LedgerAccount",
    "MemoryAccount",
    "Scope",
    "ScopeKind",
    "State",
    "Verification",
    "export_head",
    "export_lines",
    "known_head",
    "move_ledger",
    "open_ledger",
    "path_balances",
    "remaining",
    "transition",
    "verify_export",
]
