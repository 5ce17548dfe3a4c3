"""Private things are named by a secret that never leaves the ledger."""

import hashlib
import hmac
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.accounting import LedgerAccount, MemoryAccount, open_ledger
from bocage.accounting.secret import MODULUS, Secret
from bocage.epsilon import Epsilon
from bocage.service.core.accounts import Admission, WatchedAccount

ONE = Epsilon.of(1)


@pytest.fixture
def ledger(target):
    with open_ledger(target, create=True) as opened:
        yield opened


@pytest.fixture
def account(ledger):
    return LedgerAccount(ledger, ledger.analyst(ledger.table("people", ONE), "ann", ONE))


def test_one_ledger_blinds_alike_always_and_two_never(ledger, target, tmp_path):
    name = ledger.blind("version 1")
    assert len(bytes.fromhex(name)) == 32
    assert name == ledger.blind("version 1") != ledger.blind("version 2")
    with open_ledger(target) as again, open_ledger(tmp_path / "other", create=True) as other:
        assert again.blind("version 1") == name != other.blind("version 1")


def test_the_secret_is_in_no_export(ledger, tmp_path):
    with ledger._store.read() as run:
        ((secret,),) = run("SELECT value FROM secret")
    assert ledger.blind("a") == hmac.new(bytes(secret), b"a", hashlib.sha256).hexdigest()
    ledger.export(tmp_path / "export.jsonl")
    written = (tmp_path / "export.jsonl").read_bytes()
    assert bytes(secret) not in written
    assert bytes(secret).hex().encode() not in written


def test_accounts_of_a_ledger_blind_as_it_does(ledger, account):
    """Also those that are reserved, those below, and those that a service watches."""
    watched = WatchedAccount(account, Admission())
    tenth = Epsilon.of("0.1")
    for one in (account, watched):
        reserved = one.reserve(tenth, "{}")
        below = reserved.partition("p").part("a")
        for place in (one, one.partition("p"), reserved, below, below.reserve(Epsilon(1), "{}")):
            assert place.blind("text") == ledger.blind("text")


def test_accounts_in_memory_have_a_secret_for_each_tree():
    first, second = MemoryAccount.of(ONE), MemoryAccount.of(ONE)
    assert first.blind("a") == first.partition("p").part("x").blind("a")
    assert first.reserve(Epsilon(1), "{}").blind("a") == first.blind("a")
    assert first.blind("a") != second.blind("a")


fields = st.lists(st.one_of(st.text(st.characters(codec="utf-8")), st.integers(), st.binary()))


@given(fields, fields)
def test_seals_differ_unless_the_fields_are_the_same(one, other):
    secret = Secret(b"s" * 32)
    written = [[f if isinstance(f, bytes) else str(f).encode() for f in x] for x in (one, other)]
    assert (secret.seal(*one) == secret.seal(*other)) == (written[0] == written[1])
    assert 0 <= secret.seal(*one) < MODULUS


def test_seals_depend_on_the_secret_and_on_where_a_field_ends():
    seals = [
        Secret(bytes([key]) * 32).seal(*text)
        for key, text in product((1, 2), (("ab", "c"), ("a", "bc"), ("abc",), ("abc", "")))
    ]
    assert len(set(seals)) == 8
