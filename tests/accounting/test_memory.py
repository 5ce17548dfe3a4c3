"""A reservation is not spent twice by a fork."""

import os

import pytest

from bocage.accounting import MemoryAccount
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError


def test_a_forked_process_cannot_spend_the_reservation_of_its_parent():
    account = MemoryAccount.of(Epsilon.of(1))
    child = os.fork()
    if child == 0:
        try:
            account.charge(Epsilon.of(1), "twice")
        except LedgerError:
            os._exit(7)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    account.charge(Epsilon.of(1), "once")
    with pytest.raises(LedgerError):
        account.charge(Epsilon.of("0.1"), "more")
