"""Logging in and out: keys, sessions, and what other sites cannot do."""

from __future__ import annotations

import time

import pytest
from browsing import NARROW, WIDE, check_page

from bocage.service.core.sessions import Sessions


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_way_in_is_usable_by_everybody(site, size, scheme):
    page = site.look(size=size, scheme=scheme)
    page.goto(site.url)
    assert page.url.endswith("/login")
    check_page(page)


def test_a_wrong_key_says_what_to_do(site):
    page = site.look()
    page.goto(f"{site.url}/login")
    page.get_by_label("Key").fill("bocage_wrong")
    page.get_by_role("button", name="Log in").click()
    assert "The owner can give you a new one" in page.get_by_role("alert").inner_text()
    assert page.complaints == ["Failed to load resource: the server responded with a status of 401 (Unauthorized)"]


def _logged_in(site, key):
    client = site.inside.client
    answer = client.post("/login", data={"key": key}, headers={"Origin": site.url})
    assert answer.status_code == 303
    return client


def test_a_session_opens_the_api_to_its_own_pages_only(site):
    client = _logged_in(site, site.made.analyst("ann"))
    question = {"plan": [], "ask": {"kind": "noisy_count", "epsilon": "1"}}
    assert client.get("/v1/me").json()["analyst"] == "ann"
    assert client.post("/v1/tables/people/query", json=question).status_code == 401
    page = {"X-Bocage-Page": "1"}
    assert client.post("/v1/tables/people/query", json=question, headers=page).status_code == 200


def test_a_form_of_another_site_is_refused(site):
    key = site.made.analyst("ann")
    for headers in ({}, {"Origin": "https://elsewhere.example"}, {"Origin": "null"}):
        answer = site.inside.client.post("/login", data={"key": key}, headers=headers)
        assert answer.status_code == 422
        assert "set-cookie" not in answer.headers


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(site):
    client = site.inside.client
    data, headers = {"key": site.made.analyst("ann")}, {"Origin": site.url}
    cookie = client.post("/login", data=data, headers=headers).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_a_session_ends_with_its_key_and_by_logging_out(site):
    client = _logged_in(site, site.made.analyst("ann"))
    with site.made.owner() as owner:
        owner.registry.rotate("ann")
    assert client.get("/v1/me").status_code == 401
    client = _logged_in(site, site.made.analyst("bob"))
    assert client.get("/v1/me").status_code == 200
    token = client.cookies["bocage_session"]
    client.post("/logout", headers={"Origin": site.url})
    client.cookies.set("bocage_session", token)
    assert client.get("/v1/me").status_code == 401


def test_a_session_that_is_not_used_ends(site, monkeypatch):
    sessions = Sessions(site.home.registry_address, 1)
    token = sessions.log_in(site.made.analyst("ann"))
    assert sessions.find(token).analyst == "ann"
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    assert sessions.find(token) is None
    sessions.close()


def test_a_new_key_of_the_owner_ends_the_old_one(site):
    first = site.owner_key()
    client = _logged_in(site, first)
    assert client.get("/", follow_redirects=False).headers["location"] == "/owner"
    site.owner_key()
    assert client.get("/", follow_redirects=False).headers["location"] == "/login"
    answer = client.post("/login", data={"key": first}, headers={"Origin": site.url})
    assert answer.status_code == 401


@pytest.mark.parametrize("address", ["//elsewhere.example", "https://elsewhere.example", "/\\x", "\\x"])
def test_logging_in_leads_nowhere_else(site, address):
    data = {"key": site.made.analyst("ann"), "next": address}
    answer = site.inside.client.post("/login", data=data, headers={"Origin": site.url})
    assert answer.headers["location"] == "/"


def test_no_path_leads_out_of_the_files_of_the_pages(site):
    for name in ("..%2Fpages.py", "%2e%2e%2fpages.py", "nothing.css", "..\\pages.py"):
        assert site.inside.client.get(f"/static/{name}").status_code == 404
