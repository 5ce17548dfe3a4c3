"""Several owners, one model: none of them shows a record to another.

::

    coordinator   draw ──> plan: schema, random trees and price, before anybody looks at a row
    each owner    contribute: one charge, one scan ──> contribution: noisy counts, signed by keys
    anyone        merge: the contributions that fit the plan ──> a forest with its certificate

`documents`, `counts` and `parquet` are the files in between; `ed25519` is the strict rule by which a
signature is taken.
"""

from bocage.parties.contribute import contribute
from bocage.parties.contribution import Contribution
from bocage.parties.draw import plan_columns, plan_rows
from bocage.parties.keys import Signer
from bocage.parties.merge import merge
from bocage.parties.plan import PartyPlan, Share

__all__ = [
    "Contribution",
    "PartyPlan",
    "Share",
    "Signer",
    "contribute",
    "merge",
    "plan_columns",
    "plan_rows",
]
