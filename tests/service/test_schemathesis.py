"""Requests made up from the OpenAPI document: whatever is sent, the service does not break."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from running import Inside
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from bocage.service.core.documents import ErrorDocument

EXAMPLES = 12
# test_security.py looks at keys; and no document can say which columns a table has.
EXCLUDED = [ignored_auth, positive_data_acceptance]


def test_nothing_made_up_from_the_document_gives_a_500(made, ann):
    service = Inside(made.opened())
    try:
        document = service.client.get("/v1/openapi.json").json()
        operations = list(schemathesis.openapi.from_dict(document).get_all_operations())
        assert len(operations) >= 20
        for operation in operations:
            _attack(operation.ok(), service.client, ann)
    finally:
        service.stop()


def _attack(operation, client, who):
    if operation.path.endswith("/events"):
        return  # a stream; its ids are those of jobs

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def attack(case):
        if "table" in case.path_parameters:
            case.path_parameters["table"] = "people"
        reply = case.call(base_url=str(client.base_url).rstrip("/"), headers=who)
        assert reply.status_code != 500, f"{operation.label}: {reply.text}"
        if reply.status_code >= 400:
            ErrorDocument.model_validate_json(reply.content)
        case.validate_response(reply, headers=who, excluded_checks=EXCLUDED)

    attack()
