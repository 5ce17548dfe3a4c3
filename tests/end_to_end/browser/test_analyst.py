"""The analyst's console, in a browser: my tables, questions with their price, and what I spent."""

from __future__ import annotations

import csv
import io

import pytest
from browsing import NARROW, WIDE, Site, check_page


@pytest.fixture(scope="module")
def shared(tmp_path_factory, chromium):
    """One service for the tests that do not disturb each other; every test has its own analyst."""
    site = Site(tmp_path_factory.mktemp("site"), chromium)
    yield site
    site.stop()


def _asking(site, name, budget="2"):
    page = site.log_in(site.made.analyst(name, budget))
    page.goto(f"{site.url}/analyst/tables/people")
    return page


def _price(page, text):
    page.get_by_role("status", name="Price").filter(has_text=text).wait_for()


def _ask(page):
    before = page.locator("#answers article").count()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("#answers article").nth(before).wait_for()
    return page.locator("#answers article").first


def test_a_question_is_priced_before_it_is_asked_and_free_when_it_is_asked_again(shared):
    page = _asking(shared, "ann")
    page.get_by_label("Epsilon", exact=True).fill("0.5")
    _price(page, "Costs epsilon 0.5; ± 6 at 95 %.")
    assert "Leaves you 1.5." in page.get_by_role("status", name="Price").inner_text()
    check_page(page)
    answer = _ask(page)
    assert "epsilon 0.5" in answer.inner_text()
    assert "with 95 %" in answer.inner_text()
    answer.locator("svg.chart circle").wait_for()
    assert answer.locator("svg.chart .span").count() == 1
    assert page.locator("#left").inner_text() == "1.5"
    value = answer.locator(".big").inner_text()
    again = _ask(page)
    assert "You asked this before: the same answer again, free." in again.inner_text()
    assert again.locator(".big").inner_text() == value
    assert page.locator("#left").inner_text() == "1.5"
    check_page(page)


def test_conditions_parts_and_kinds_make_the_question(shared):
    page = _asking(shared, "bob")
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Column", exact=True).select_option("city")
    page.get_by_label("Operator").select_option("is one of")
    page.get_by_label("Value", exact=True).select_option(["Paris", "Nice"])
    page.get_by_role("button", name="Add a condition").click()
    second = page.get_by_role("group", name="Condition", exact=True).nth(1)
    second.get_by_label("Column", exact=True).select_option("age")
    second.get_by_label("Operator").select_option("between")
    second.get_by_label("From", exact=True).fill("2")
    second.get_by_label("To", exact=True).fill("7")
    page.get_by_text("A filter of your own").click()
    page.get_by_label("And", exact=True).fill("not sex = 'M'")
    page.get_by_label("For each part of").select_option("age")
    page.get_by_label("Parts begin at").fill("4, 6")
    page.get_by_label("What", exact=True).select_option("How many rows for each value")
    page.get_by_label("of", exact=True).first.select_option("buys")
    _price(page, "at 95 %")
    check_page(page)
    with page.expect_request("**/query") as asked:
        answer = _ask(page)
    assert asked.value.post_data_json["plan"] == [
        {
            "op": "where",
            "predicate": "(\"city\" in ('Paris', 'Nice')) and (\"age\" between 2 and 7) and (not sex = 'M')",
        },
        {"op": "partition", "by": "age", "edges": ["4", "6"]},
    ]
    answer.get_by_text("All 6 numbers").click()
    assert answer.locator("tbody tr").count() == 6
    assert answer.locator("svg.chart circle").count() == 6
    page.get_by_role("button", name="Remove the condition").first.click()
    assert page.get_by_role("group", name="Condition", exact=True).count() == 1
    check_page(page)


def test_every_kind_of_question_can_be_rehearsed_for_free(shared):
    page = _asking(shared, "kim")
    kinds = page.get_by_label("What", exact=True).locator("option").all_inner_texts()
    assert len(kinds) == 7
    for at, kind in enumerate(kinds):
        page.get_by_label("What", exact=True).select_option(kind)
        page.get_by_role("button", name="Rehearse on made-up rows").click()
        page.locator("#answers article").nth(at).wait_for()
    told = page.locator("#answers article").all_inner_texts()
    assert all("says nothing about the table" in text for text in told)
    assert page.locator("#left").inner_text() == "2"
    check_page(page)


def test_the_slider_and_the_field_say_the_same(shared):
    page = _asking(shared, "cleo")
    slider = page.get_by_label("Epsilon, by sliding")
    slider.focus()
    slider.press("End")
    assert page.get_by_label("Epsilon", exact=True).input_value() == "2"
    _price(page, "Leaves you 0.")
    slider.press("Home")
    assert page.get_by_label("Epsilon", exact=True).input_value() == "0.002"
    page.get_by_label("Epsilon", exact=True).fill("much")
    page.locator("#price.stop").filter(has_text="epsilon").wait_for()


def test_a_spent_budget_says_what_to_do(shared):
    page = _asking(shared, "dan", "0.5")
    page.get_by_label("Epsilon", exact=True).fill("0.5")
    _ask(page)
    page.get_by_label("What", exact=True).select_option("The most frequent value")
    _price(page, "more than you have left: it would be refused. Lower epsilon, or ask the data owner")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("alert").filter(has_text="ask the data owner for more").wait_for()
    page.reload()
    assert "Your budget is spent" in page.inner_text("main")
    page.complaints.clear()  # the browser notes every refusal there
    check_page(page)


def test_my_tables_and_what_i_spent(shared):
    page = _asking(shared, "eve")
    _ask(page)
    page.get_by_role("link", name="My tables").click()
    assert "1.9 of 2 epsilon left" in page.inner_text("main")
    check_page(page)
    page.get_by_role("link", name="What I spent").click()
    check_page(page)
    page.get_by_label("Show only").fill("charge")
    assert page.locator("#lines tbody tr").filter(visible=True).count() == 1
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    lines = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [(one["table"], one["epsilon"]) for one in lines if one["action"] == "charge"] == [("people", "0.1")]


@pytest.mark.parametrize(("scheme", "size"), [("light", NARROW), ("dark", NARROW), ("dark", WIDE)])
def test_pages_fit_their_window_in_light_and_dark(shared, scheme, size):
    key = shared.made.analyst(f"fay-{scheme}-{size['width']}")
    page = shared.log_in(key, size=size, scheme=scheme)
    for address in ("", "/tables/people", "/tables/people/train", "/jobs", "/models", "/ledger"):
        page.goto(f"{shared.url}/analyst{address}")
        page.wait_for_load_state("networkidle")
        check_page(page)


def test_what_is_not_mine_is_not_there(shared):
    page = shared.log_in(shared.made.analyst("gil", None))
    assert "You may ask no table yet" in page.inner_text("main")
    check_page(page)
    for address in (
        "tables/people",
        "tables/people/train",
        f"jobs/{32 * '0'}",
        f"models/{32 * 'f'}",
    ):
        page.goto(f"{shared.url}/analyst/{address}")
        assert "Not here" in page.inner_text("h1")
