"""Several owners, one model: none of them shows a record to another.

A coordinator publishes a plan (`plan_rows` or `plan_columns`), each owner turns their table into a
signed contribution (`contribute`), and anyone adds up contributions (`merge`).
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
