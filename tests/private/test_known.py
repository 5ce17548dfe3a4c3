"""What was found out about a question holds when it comes again: what it is, not what it may."""

from __future__ import annotations

import pytest

from bocage.errors import BocageError, BudgetExceeded
from bocage.private import executor
from bocage.private.count import Count


@pytest.fixture
def looks(monkeypatch):
    """Questions that were looked at."""
    found = []
    check = Count.check
    monkeypatch.setattr(Count, "check", lambda self, terms, place: found.append(self) or check(self, terms, place))
    return found


def test_a_question_that_came_before_is_not_looked_at_again(alice, looks):
    for _ in range(3):
        alice.noisy_count("0.5", fresh=True)
    assert len(looks) == 1
    alice.noisy_count("0.25", fresh=True)
    alice.where("age >= 3").noisy_count("0.25", fresh=True)
    assert len(looks) == 3
    memos = [entry.memo for entry in alice._account._ledger.entries() if entry.action == "charge"]
    assert len(memos) == 5
    assert len(set(memos)) == 3
    assert memos[0] == memos[1] == memos[2]


def test_it_is_charged_and_refused_as_any_other(alice):
    for _ in range(2):
        alice.noisy_count(2, fresh=True)
    with pytest.raises(BudgetExceeded):
        alice.noisy_count(2, fresh=True)


def test_what_cannot_be_asked_is_refused_every_time(alice):
    for _ in range(2):
        with pytest.raises(BocageError):
            alice.noisy_sum("sex", 1)
    assert alice.spent().nano == 0


def test_few_and_short_questions_are_known(alice, monkeypatch):
    monkeypatch.setattr(executor, "_MOST_KNOWN", 3)
    for number in range(1, 8):
        alice.noisy_count(f"0.0{number}")
        assert 0 < len(alice._executor._known) <= 3
    alice._executor._known.clear()
    monkeypatch.setattr(executor, "_LONGEST_KNOWN", 10)
    alice.noisy_count("0.08")
    assert not alice._executor._known
