"""Scopes are paths; what they are follows from their depth."""

import pytest

from bocage.accounting import Scope, ScopeKind
from bocage.errors import LedgerError

ALICE = Scope.table("people").analyst("alice")


def test_kinds_alternate_below_the_analyst():
    deep = ALICE.partition("sex").part("F").partition("age").part("old")
    assert [scope.kind for scope in deep.lineage] == [
        ScopeKind.TABLE,
        ScopeKind.ANALYST,
        ScopeKind.PARTITION,
        ScopeKind.PART,
        ScopeKind.PARTITION,
        ScopeKind.PART,
    ]
    assert str(deep) == "people / alice / sex / F / age / old"


@pytest.mark.parametrize(
    "misplaced",
    [
        lambda: Scope.table("people").partition("sex"),
        lambda: Scope.table("people").part("F"),
        lambda: ALICE.analyst("bob"),
        lambda: ALICE.part("F"),
        lambda: ALICE.partition("sex").partition("age"),
        lambda: ALICE.partition("sex").part("F").part("old"),
    ],
)
def test_scope_in_the_wrong_place_is_refused(misplaced):
    with pytest.raises(LedgerError, match="is divided by"):
        misplaced()


@pytest.mark.parametrize("path", [(), ("",), ("x" * 8193,), ("people", 3)])
def test_scope_without_a_proper_name_is_refused(path):
    with pytest.raises(LedgerError):
        Scope(path)


def test_names_that_join_to_the_same_text_have_different_keys():
    paths = [("a", "b,c"), ("a,b", "c"), ("a", 'b","c'), ("a", "b", "c"), ('a","b', "c")]
    assert len({Scope(path).key for path in paths}) == len(paths)


def test_title_shortens_a_long_name():
    assert Scope.table("x" * 500).title == f"table '{'x' * 60}…'"
