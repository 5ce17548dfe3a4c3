"""An entry that does not fit is refused with the error of the room that reads it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bocage.documents.entries import Entries
from bocage.errors import PartyError

read = Entries(PartyError)


def test_what_fits_is_returned():
    assert read.fields({"a": 1, "b": 2}, ("b", "a"), "it") == {"a": 1, "b": 2}
    assert read.text("a", "it") == "a"
    assert read.integer(3, 3, 3, "it") == 3
    assert read.boolean(False, "it") is False
    assert read.positive(Decimal("0.5"), "it") == 0.5
    assert read.items([1, 2], "it", most=2) == [1, 2]


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: read.fields([], (), "it"), r"it is an object, not \[\]\."),
        (lambda: read.fields({"b": 1}, ("a",), "it"), "it has the unknown key 'b'."),
        (lambda: read.fields({}, ("a",), "it"), "it has no 'a'."),
        (lambda: read.text(1, "it"), "it is a text, not 1."),
        (lambda: read.integer(True, 0, 1, "it"), "it is a whole number from 0 to 1, not True."),
        (lambda: read.integer(2, 0, 1, "it"), "it is a whole number from 0 to 1, not 2."),
        (lambda: read.integer(Decimal(1), 0, 1, "it"), "it is a whole number from 0 to 1"),
        (lambda: read.boolean(1, "it"), "it is true or false, not 1."),
        (lambda: read.positive(0, "it"), "it is a number greater than 0, not 0."),
        (lambda: read.positive(True, "it"), "it is a number greater than 0, not True."),
        (lambda: read.positive(Decimal("1e400"), "it"), "it is a number greater than 0"),
        (lambda: read.items({}, "it"), r"it is a list, not \{\}\."),
        (lambda: read.items([1, 2], "it", most=1), "it has more than 1 entries."),
    ],
)
def test_what_does_not_fit_is_refused(refused, message):
    with pytest.raises(PartyError, match=message):
        refused()
