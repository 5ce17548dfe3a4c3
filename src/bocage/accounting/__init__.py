"""What has been spent: exact, durable, append-only, O(1) per charge.

`scope` names the places, `algebra` says what an action does to the balances there, `entry` and
`chain` record it, `store` with `sqlite` and `postgres` keep the record, `verification` replays it,
`ledger` is the whole, `opening` opens it, `place` and `anchor` say whether it is the one, `account` one place of it as a question sees it, and `memory` the same inside
what a learner reserved.
"""

from bocage.accounting.account import Account, LedgerAccount
from bocage.accounting.algebra import Action, Balance, State
from bocage.accounting.anchor import known_head
from bocage.accounting.entry import Entry
from bocage.accounting.ledger import Ledger
from bocage.accounting.ledger_factory import move_ledger, open_ledger
from bocage.accounting.memory import MemoryAccount
from bocage.accounting.scope import Scope, ScopeKind
from bocage.accounting.verification import Head, Verification, export_head, verify_export

__all__ = [
    "Account",
    "Action",
    "Balance",
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
    "known_head",
    "move_ledger",
    "open_ledger",
    "verify_export",
]
