"""What the ledger knows a question by stays letter for letter: answers that were paid for stay free.

`memos.json` and `asked.ledger.gz` were written before questions had one document form. What can be
asked since then is in neither.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

import bocage
from bocage.accounting import move_ledger
from bocage.documents.writing import canonical_text
from bocage.epsilon import Epsilon
from bocage.private.executor import digest, facts_of, memo_of
from bocage.private.query import CellQuery
from private.asked import ASKED, TERMS, every_question
from private.tables import PEOPLE, ROWS

HERE = Path(__file__).parent
MEMOS = json.loads((HERE / "memos.json").read_text())
EVERY = [(name, query, place) for name, query, place in every_question() if name in MEMOS]


@pytest.mark.parametrize(("name", "query", "place"), EVERY, ids=[name for name, *_ in EVERY])
def test_memo_and_key_are_what_they_were(name, query, place):
    facts = facts_of(TERMS, query, place, "1")
    assert memo_of(facts) == canonical_text(facts) == MEMOS[name]
    assert digest(facts) == hashlib.sha256(MEMOS[name].encode()).hexdigest()


def test_every_memo_is_of_a_question_that_is_asked_here():
    assert sorted(MEMOS) == sorted(name for name, *_ in EVERY)


def test_an_answer_that_an_older_ledger_holds_is_free(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_bytes(gzip.decompress((HERE / "asked.ledger.gz").read_bytes()))
    move_ledger(path)
    with bocage.protect(ROWS, PEOPLE, ledger=path, cap=10) as owner:
        alice = owner.analyst("alice", 10)
        before = str(alice.spent())
        charges = sum(entry.action == "charge" for entry in owner.ledger.entries())
        older = [ask for name, ask in ASKED.items() if name in MEMOS]
        assert len(older) == charges
        for ask in older:
            answer = ask(alice)
            assert (answer.kind, answer.cost) == ("stored", "0"), answer.question
        assert str(alice.spent()) == before
        assert sum(entry.action == "charge" for entry in owner.ledger.entries()) == charges


@pytest.mark.parametrize(
    ("query", "place"),
    [pytest.param(*asked, id=name) for name, *asked in EVERY if isinstance(asked[0], CellQuery)],
)
def test_cells_that_pay_other_amounts_ask_another_question(query, place):
    less = Epsilon(query.epsilon.nano - 1)
    asked = [
        query,
        *(replace(query, each=(query.epsilon, epsilon)) for epsilon in (query.epsilon, less)),
    ]
    keys = {digest(facts_of(TERMS, one, place, "1")) for one in asked}
    assert len(keys) == len(asked)
