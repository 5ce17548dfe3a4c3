"""Whoever asks by a document asks as whoever calls the method."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import Parameter, signature
from typing import get_args

import pytest

from bocage.mechanisms import Selection
from bocage.plan import documents
from bocage.plan.documents import ASKS
from bocage.private.query import PortableQuery
from bocage.private.questions import Askable
from private.asked import ASKED, LEARNERS_ASK, asked, every_question


@pytest.mark.parametrize("form", ASKS, ids=lambda form: form.kind)
def test_a_method_takes_the_members_of_its_document_and_the_same_defaults(form):
    parameters = dict(signature(getattr(Askable, form.kind)).parameters)
    del parameters["self"], parameters["fresh"]
    assert {member.name: member.default for member in fields(form)} == {
        name: MISSING if parameter.default is Parameter.empty else parameter.default
        for name, parameter in parameters.items()
    }


def test_the_selections_of_documents_are_those_there_are():
    assert set(get_args(documents.Selection)) == set(Selection)


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_a_question_asked_by_its_document_is_the_same_question(ask):
    query, place = asked(ask)
    document = query.form().wire()

    def by_document(table):
        table._place = place
        return getattr(table, document.pop("kind"))(**document)

    assert asked(by_document) == (query, place)


def test_what_only_learners_ask_has_no_document():
    plain = {name for name, query, _ in every_question() if isinstance(query, PortableQuery)}
    assert plain == {*ASKED, "some splits"}
    assert set(LEARNERS_ASK) - plain
