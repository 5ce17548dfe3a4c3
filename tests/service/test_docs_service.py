"""Every route and every setting of the service stands in its reference, as it is."""

from __future__ import annotations

import re
from dataclasses import fields

from running import Inside

from bocage import errors
from bocage.service.core.errors import code_of, status_of
from bocage.service.settings import Settings
from docs_pages import ROOT

REFERENCE = (ROOT / "docs" / "reference" / "service.md").read_text()


def test_every_route_is_listed_and_no_other(made):
    service = Inside(made.opened())
    document = service.client.get("/v1/openapi.json").json()
    service.stop()
    there = {f"{method.upper()} {path}" for path, one in document["paths"].items() for method in one}
    there |= {"GET /metrics", "GET /v1/openapi.json"}
    assert set(re.findall(r"^\| `([A-Z]+ /[^`]*)`", REFERENCE, re.MULTILINE)) == there
    for path, one in document["paths"].items():
        for operation in one.values():
            assert operation["summary"]
            assert operation["description"]
            if path.startswith("/v1"):
                assert {"400", "401", "403", "404", "422", "429", "503"} <= set(operation["responses"])
                assert operation["security"]


def test_every_setting_is_listed_with_its_default():
    for one in fields(Settings):
        default = one.default
        text = f'"{default}"' if isinstance(default, str) else str(default)
        text = text.lower() if isinstance(default, bool) else text
        assert f"| `{one.name}` | `{text}` | {one.metadata['doc']} |" in REFERENCE


def test_every_code_stands_at_its_status():
    for kind in vars(errors).values():
        if not (isinstance(kind, type) and issubclass(kind, errors.BocageError)):
            continue
        if kind in (errors.EstimatorError, errors.Unreachable, errors.JobCancelled):
            continue  # of the caller's side
        if kind in (errors.BocageError, errors.DeclaredTwice):
            continue  # of the owner's side
        if kind is errors.RequestReused:
            continue  # the service says RequestConflict
        made = kind("x", asked="1", left="0", cap="1") if kind is errors.BudgetExceeded else kind("x")
        status, code = status_of(made), code_of(kind)
        if kind is not errors.RequestInvalid:
            assert re.search(rf"^\| {status} \|.*`{code}`", REFERENCE, re.MULTILINE), code
