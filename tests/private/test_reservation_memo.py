"""What the owner reads of a learner's charge."""

import json

import bocage
from bocage.learners import DiffPID3
from bocage.schema import Categorical, Schema

SCHEMA = Schema(
    "clinic",
    (Categorical("sex", ("f", "m")), Categorical("region", ("n", "s"))),
    Categorical("ill", ("no", "yes")),
)
ROWS = {"sex": ["f", "m"] * 20, "region": ["n", "n", "s", "s"] * 10, "ill": ["no", "yes"] * 20}


def test_the_memo_of_a_fit_on_filtered_rows_names_the_filter(tmp_path):
    path = tmp_path / "ledger"
    with bocage.protect(ROWS, SCHEMA, ledger=path, cap=4, create=True) as owner:
        table = owner.analyst("a", 2)
        DiffPID3(depth=1).fit(table, 1)
        DiffPID3(depth=1).fit(table.where("sex = 'f'"), 1)
        whole, filtered = [e.memo for e in owner.ledger.entries() if e.action == "charge"]
    assert json.loads(whole)["learner"] == "diffpid3"
    assert json.loads(filtered)["where"] == {"column": "sex", "codes": [[0, 0]]}
    assert json.loads(json.loads(filtered)["reserve"])["learner"] == "diffpid3"
