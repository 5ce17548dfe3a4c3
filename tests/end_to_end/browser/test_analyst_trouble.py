"""What an analyst is told when something is in the way: each time, what to do."""

from __future__ import annotations

import pytest
from browsing import Site, check_page
from lines import Line

SLOW = 2500  # milliseconds for every level of a job, so that there is time to disturb it
LEARN = {"learner": "diffpid3", "parameters": {"depth": 2, "attributes": ["sex", "city"]}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory, chromium):
    site = Site(tmp_path_factory.mktemp("site"), chromium, job_padding_milliseconds=SLOW)
    yield site
    site.stop()


def _asking(site, name):
    page = site.log_in(site.made.analyst(name, "2"))
    page.goto(f"{site.url}/analyst/tables/people")
    page.get_by_role("status", name="Price").filter(has_text="at 95 %").wait_for()
    return page


def _refused(page, text):
    page.get_by_role("button", name="Ask", exact=True).click()
    alert = page.locator("#problem[role=alert]").filter(has_text=text)
    alert.wait_for()
    page.wait_for_timeout(500)  # the price is asked again
    page.wait_for_load_state("networkidle")
    page.complaints.clear()  # the browser notes every refusal there
    check_page(page)
    return alert


def test_an_expired_session_leads_back_to_the_key_and_to_the_same_page(shared):
    page = _asking(shared, "ann")
    page.context.clear_cookies()
    _refused(page, "Your session has ended").get_by_role("link", name="Log in").click()
    page.get_by_label("Key").fill(shared.made.keys["ann"])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/analyst/tables/people")


def test_a_key_that_was_replaced_says_so(shared):
    page = _asking(shared, "bob")
    with shared.made.owner() as owner:
        owner.registry.rotate("bob")
    _refused(page, "your key was revoked or replaced")


def test_revoked_in_the_middle_of_work(shared):
    page = _asking(shared, "cleo")
    with shared.made.owner() as owner:
        owner.revoke("cleo", "people")
    _refused(page, "is revoked. Ask the data owner. Nothing was charged.")
    page.reload()
    assert "The owner has ended your access" in page.inner_text("main")


def test_a_lost_connection_is_told_and_the_same_question_is_charged_once(shared):
    page = _asking(shared, "dan")
    page.context.set_offline(True)
    _refused(page, "nothing is charged twice")
    page.context.set_offline(False)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("#answers article").wait_for()
    assert page.locator("#left").inner_text() == "1.9"


def test_a_lost_answer_is_fetched_with_the_same_key_and_charged_once(shared):
    page = _asking(shared, "eve")
    keys = []

    def lose_the_first(route):
        keys.append(route.request.headers.get("idempotency-key"))
        if '"release"' in route.request.post_data and keys.count(keys[-1]) == 1:
            route.fetch()  # the service answers, and the answer is lost on the way
            route.abort()
        else:
            route.continue_()

    page.route("**/query", lose_the_first)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("#answers article").wait_for()
    assert len([key for key in keys if key]) == 2
    assert page.locator("#left").inner_text() == "1.9"
    page.unroute_all()


def _job(site, name):
    """The page of a job that has been paid for and takes a few seconds for every level."""
    page = site.log_in(site.made.analyst(name, "5"))
    headers = {"X-Bocage-Page": "1"}
    body = {**LEARN, "epsilon": "1"}
    answer = page.request.post(f"{site.url}/v1/tables/people/learn", data=body, headers=headers)
    page.goto(f"{site.url}/analyst/jobs/{answer.json()['job']}")
    page.locator("#state").filter(has_text="running").wait_for()
    return page


def test_a_job_outlives_a_lost_connection(shared):
    page = _job(shared, "fay")
    check_page(page)
    page.context.set_offline(True)
    page.get_by_role("alert").filter(has_text="The job goes on without this page").wait_for()
    page.context.set_offline(False)
    page.get_by_role("link", name="Look at the model").wait_for()
    assert page.locator("#connection").is_hidden()
    page.complaints.clear()
    check_page(page)


def test_a_job_is_cancelled_after_a_second_question(shared):
    page = _job(shared, "gil")
    page.get_by_role("button", name="Cancel").click()
    check_page(page)
    page.get_by_role("button", name="No, go on").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Yes, cancel it").click()
    told = page.get_by_role("alert").filter(has_text="What was charged stays charged")
    told.get_by_role("link", name="Train again").wait_for()
    assert page.locator("#state").inner_text() == "cancelled"
    page.reload()
    page.get_by_role("alert").filter(has_text="The job was cancelled").wait_for()
    check_page(page)


def test_a_table_that_is_frozen_ends_the_job_and_closes_the_pages(shared):
    page = _job(shared, "hal")
    other = _asking(shared, "ida")
    with shared.made.owner() as owner:
        owner.freeze("people")
    try:
        page.locator("#end[role=alert]").filter(has_text="Ask the owner").wait_for()
        assert page.locator("#state").inner_text() == "revoked"
        assert "What was charged stays charged" in page.locator("#end").inner_text()
        _refused(other, "is frozen. Ask the data owner. Nothing was charged.")
        other.reload()
        assert "The owner has frozen this table" in other.inner_text("main")
    finally:
        with shared.made.owner() as owner:
            owner.thaw("people")


def test_a_line_that_is_cut_during_a_job_is_waited_for(shared):
    page = _job(shared, "jan")
    line = Line(shared.inside.client.base_url.port)
    try:
        page.goto(page.url.replace(shared.url, line.url))
        page.locator("#state").filter(has_text="running").wait_for()
        line.cut()
        page.get_by_role("alert").filter(has_text="as soon as the service answers").wait_for()
        line.mend()
        page.get_by_role("link", name="Look at the model").wait_for()
        assert page.locator("#connection").is_hidden()
    finally:
        line.stop()
