"""One look at the registry tells whose key a request carries, and the grant that it needs."""

from __future__ import annotations

import pytest
from running import bearer, count

from bocage.service.core.registry import Caller, key_digest, new_key

QUERY = "/v1/tables/people/query"


def test_the_look_tells_what_two_would(made):
    ann, bob = made.analyst("ann"), made.analyst("bob", None)
    with made.owner() as owner:
        registry = owner.registry

        def told(key, table="people"):
            return registry.caller(key_digest(key), table)

        assert told(ann) == Caller("ann", "open", "open")
        assert told(ann, "others") == told(ann, None) == Caller("ann", "open", None)
        assert told(bob) == Caller("bob", "open", None)
        assert told(new_key()) is None
        registry.revoke_grant("ann", "people")
        assert told(ann) == Caller("ann", "open", "revoked")
        assert told(ann).grant == registry.grant_state("ann", "people")
        registry.grant("ann", "people")
        renewed = registry.rotate("ann")
        assert (told(ann), told(renewed)) == (None, Caller("ann", "open", "open"))
        registry.remove_table("people")
        assert told(renewed) == Caller("ann", "open", None)
        registry.revoke_analyst("ann")
        assert told(renewed).state == "revoked"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda owner: owner.registry.revoke_grant("ann", "people"), 403),
        (lambda owner: owner.registry.revoke_analyst("ann"), 403),
        (lambda owner: owner.registry.rotate("ann"), 401),
        (lambda owner: owner.registry.remove_table("people"), 404),
        (lambda owner: owner.ledger.freeze(owner.ledger.table("people")), 403),
    ],
)
def test_what_the_owner_does_holds_for_the_next_question_of_a_connection(made, serve, change, status):
    key = made.analyst("ann")
    client = serve()
    for number in range(3):  # so that it is alone, and everything about it is known
        header = {**bearer(key), "Idempotency-Key": f"k{number}"}
        reply = client.post(QUERY, json=count("0.01", fresh=True), headers=header)
        assert reply.status_code == 200
    with made.owner() as owner:
        change(owner)
    reply = client.post(QUERY, json=count("0.01", fresh=True), headers=header)
    assert reply.status_code == status
