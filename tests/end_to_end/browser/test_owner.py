"""The owner's console, in a browser: from nothing to a served table, and what is done to it then."""

from __future__ import annotations

import csv
import io
import re

import pytest
from browsing import NARROW, WIDE, Site, check_page
from running import bearer, count, wait_for_job

from bocage.accounting import verify_export
from bocage.service.core.exports import check_signature


@pytest.fixture
def owner(site):
    return site.log_in(site.owner_key())


def _asked(site, name, **more):
    """An analyst who has asked once."""
    key = site.made.analyst(name)
    answer = site.inside.client.post("/v1/tables/people/query", json=count("0.5"), headers=bearer(key), **more)
    assert answer.status_code == 200
    return key


def test_the_first_run_leads_from_nothing_to_an_answer(tmp_path, chromium):
    site = Site(tmp_path, chromium)
    try:
        with site.made.owner() as owner:
            owner.remove_table("people")
        page = site.log_in(site.owner_key())
        assert "Nothing is served yet" in page.inner_text("main")
        check_page(page)
        page.get_by_role("link", name="Begin").click()
        page.get_by_label("Name").fill("clients")
        page.get_by_label("Source").fill(str(site.made.rows))
        page.get_by_label("Column to predict").fill("buys")
        check_page(page)
        page.get_by_role("button", name="Draft a schema").click()
        assert 'name = "clients"' in page.get_by_label("Schema", exact=True).input_value()
        check_page(page)
        page.get_by_label("Cap").fill("3")
        page.get_by_label("I have reviewed").check()
        page.get_by_role("button", name="Sign and serve").click()
        assert "clients is served" in page.get_by_role("status").inner_text()
        page.get_by_role("link", name="let somebody ask").click()
        page.get_by_label("Name").fill("ann")
        page.get_by_label("Budget").first.fill("2")
        page.get_by_role("button", name="Add and show the key").click()
        key = page.locator("#key").inner_text()
        check_page(page)
        answer = site.inside.client.post("/v1/tables/clients/query", json=count("0.5"), headers=bearer(key))
        assert answer.json()["remaining"] == "1.5"
        page.goto(f"{site.url}/owner/analysts")
        assert key not in page.content()
    finally:
        site.stop()


def test_a_source_that_is_not_there_says_so_and_keeps_what_was_typed(owner, site):
    owner.goto(f"{site.url}/owner/tables/new")
    owner.get_by_label("Name").fill("clients")
    owner.get_by_label("Source").fill("nowhere.parquet")
    owner.get_by_role("button", name="Draft a schema").click()
    assert "nowhere.parquet" in owner.get_by_role("alert").inner_text()
    assert owner.get_by_label("Name").input_value() == "clients"


def test_freezing_is_asked_twice_and_takes_effect_at_once(owner, site):
    key = _asked(site, "ann")
    owner.goto(f"{site.url}/owner/tables/people")
    owner.get_by_role("button", name="Freeze").click()
    assert "Freeze people?" in owner.inner_text("h1")
    check_page(owner)
    ask = lambda: site.inside.client.post(  # noqa: E731 - asked three times
        "/v1/tables/people/query", json=count("0.25"), headers=bearer(key)
    )
    assert ask().status_code == 200
    owner.get_by_role("button", name="Yes, do it").click()
    assert owner.locator(".tag").first.inner_text() == "frozen"
    assert ask().status_code == 403
    owner.get_by_role("button", name="Thaw").click()
    owner.get_by_role("button", name="Yes, do it").click()
    assert ask().status_code == 200


def test_revoking_and_new_keys_take_effect_at_once(owner, site):
    ann, bob = _asked(site, "ann"), _asked(site, "bob")
    owner.goto(f"{site.url}/owner/analysts")
    check_page(owner)
    owner.get_by_role("button", name="Revoke all of ann").click()
    owner.get_by_role("button", name="Yes, do it").click()
    me = lambda key: site.inside.client.get("/v1/me", headers=bearer(key)).status_code  # noqa: E731 - asked four times
    assert me(ann) == 403
    assert me(bob) == 200
    owner.get_by_role("button", name="New key for bob").click()
    owner.get_by_role("button", name="Yes, do it").click()
    new = owner.locator("#key").inner_text()
    assert me(bob) == 401
    assert me(new) == 200


def test_the_owner_sees_who_spent_what_on_what_and_takes_it_home(owner, site):
    _asked(site, "ann")
    _asked(site, "bob")
    owner.goto(f"{site.url}/owner/tables/people")
    check_page(owner)
    rows = owner.locator("#lines tbody tr")
    before = rows.count()
    owner.get_by_label("Show only").fill("ann charge")
    assert rows.filter(visible=True).count() == 1
    assert f"1 of {before} shown" in owner.inner_text("#lines-shown")
    owner.get_by_label("Show only").fill("")
    owner.get_by_role("button", name="Entry").click()
    first = [int(text) for text in owner.locator("#lines tbody td:first-child").all_inner_texts()]
    assert first == sorted(first)
    with owner.expect_download() as download:
        owner.get_by_role("link", name="Download CSV").click()
    lines = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [(one["analyst"], one["epsilon"]) for one in lines if one["action"] == "charge"] == [
        ("ann", "0.5"),
        ("bob", "0.5"),
    ]


def test_the_ledger_verifies_and_its_export_is_signed(owner, site, tmp_path):
    _asked(site, "ann")
    owner.goto(f"{site.url}/owner/ledger")
    owner.get_by_role("button", name="Verify now").click()
    assert re.search(r"All \d+ entries verify", owner.get_by_role("status").inner_text())
    check_page(owner)
    saved = {}
    for name, file in (("Export", "ledger.jsonl"), ("Signature", "ledger.jsonl.sig")):
        with owner.expect_download() as download:
            owner.get_by_role("link", name=name).click()
        saved[file] = tmp_path / file
        download.value.save_as(saved[file])
    assert verify_export(saved["ledger.jsonl"]).ok
    assert check_signature(saved["ledger.jsonl"]) == site.home.signer().public


def test_jobs_and_models_of_everybody_with_their_certificates(owner, site):
    key = site.made.analyst("ann")
    learn = {"learner": "diffpid3", "parameters": {"depth": 1, "attributes": ["sex", "city"]}}
    client = site.inside.client
    answer = client.post("/v1/tables/people/learn", json={**learn, "epsilon": "1"}, headers=bearer(key))
    client.headers.update(bearer(key))
    assert wait_for_job(client, answer.json()["job"])["state"] == "done"
    owner.goto(f"{site.url}/owner/jobs")
    assert "done" in owner.inner_text("main")
    check_page(owner)
    owner.get_by_role("link", name="Model", exact=True).click()
    assert "epsilon" in owner.get_by_role("region", name="Certificate").inner_text().lower()
    owner.locator(".tree .node").first.click()
    assert "all rows" in owner.inner_text("#rule")
    check_page(owner)
    owner.goto(f"{site.url}/owner/models")
    check_page(owner)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ["", "/tables/people", "/analysts", "/ledger", "/jobs", "/models"])
def test_pages_fit_a_telephone_in_light_and_dark(site, address, scheme):
    _asked(site, "ann")
    page = site.log_in(site.owner_key(), size=NARROW, scheme=scheme)
    page.goto(f"{site.url}/owner{address}")
    check_page(page)
    page.set_viewport_size(WIDE)
    check_page(page)


def test_an_analyst_does_not_get_in(site):
    page = site.log_in(site.made.analyst("ann"))
    for address in ("", "/analysts", "/ledger", "/models"):
        page.goto(f"{site.url}/owner{address}")
        assert "/login" in page.url
