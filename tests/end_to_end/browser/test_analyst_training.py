"""Training in a browser: the plan first, live progress, then the model in all its forms."""

from __future__ import annotations

import json
import re

import pytest
from browsing import NARROW, Site, check_page
from playwright.sync_api import expect

OWN_ROWS = """sex,city,age,buys
F,Paris,3,yes
M,Lyon,7,no
F,"Nice",4,no
M,Nice,2,perhaps
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory, chromium):
    site = Site(tmp_path_factory.mktemp("site"), chromium)
    yield site
    site.stop()


def _train(site, page, learner, epsilon="1", **fields):
    page.goto(f"{site.url}/analyst/tables/people/train?learner={learner}")
    page.get_by_label("Epsilon", exact=True).fill(epsilon)
    for name, value in fields.items():
        page.locator(f"#{learner}-{name}").fill(value)
    page.get_by_role("status", name="Price").filter(has_text=f"Costs epsilon {epsilon}.").wait_for()


def _model(page):
    page.get_by_role("link", name="Look at the model").click()
    page.locator(".tree .node").first.wait_for()


@pytest.fixture(scope="module")
def trained(shared):
    """A page that shows a tree that was just learned."""
    page = shared.log_in(shared.made.analyst("ann", "50"))
    _train(shared, page, "diffpid3", "45", depth="2")  # 16 rows: with less, the tree may be a leaf
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url("**/analyst/jobs/*")
    _model(page)
    return page


def test_the_plan_is_shown_level_by_level_and_follows_the_fields(shared):
    page = shared.log_in(shared.made.analyst("bob", "2"))
    _train(shared, page, "diffpid3")
    lines = page.locator("#plan tbody tr")
    expect(lines).to_have_count(6)  # two attributes: two levels and the leaves
    page.locator("#diffpid3-depth").fill("1")
    expect(lines).to_have_count(4)
    shares = [float(text) for text in page.locator("#plan tbody td:nth-child(4)").all_inner_texts()]
    assert sum(shares) == pytest.approx(1)
    check_page(page)
    page.get_by_label("Learner", exact=True).select_option("rdt")
    page.locator("#rdt-trees").fill("many")
    page.locator("#price.stop").filter(has_text="trees is int").wait_for()
    page.locator("#rdt-trees").fill("3")
    page.get_by_label("Epsilon", exact=True).fill("3")
    page.locator("#price.stop").filter(has_text="ask the data owner for more").wait_for()
    assert page.get_by_role("button", name="Train", exact=True).is_disabled()
    assert all("400" in text for text in page.complaints)


def test_a_job_runs_with_live_progress_and_ends_in_a_model(trained, shared):
    assert re.search(r"/analyst/models/[0-9a-f]{32}$", trained.url)
    check_page(trained)
    trained.goto(f"{shared.url}/analyst/jobs")
    assert "done" in trained.inner_text("main")
    check_page(trained)
    trained.get_by_role("link", name="Model of diffpid3").click()
    trained.locator(".tree .node").first.wait_for()


def test_a_node_tells_its_rule_and_its_released_counts(trained):
    trained.locator(".tree .node").first.click()
    rule = trained.locator("#rule").inner_text()
    assert re.search(r"all rows: (yes|no) +\[", rule)
    trained.locator(".tree .node").first.press("ArrowDown")
    trained.locator(".tree .node").nth(1).press("Enter")
    assert trained.locator("#rule").inner_text() != rule
    view = trained.locator(".tree svg").get_attribute("viewBox")
    trained.get_by_role("button", name="Zoom in").click()
    assert trained.locator(".tree svg").get_attribute("viewBox") != view


def test_rules_are_sorted_and_narrowed(trained):
    rows = trained.locator("#rules tbody tr")
    trained.get_by_role("button", name="Support").click()
    values = trained.locator("#rules tbody td:nth-child(4)").evaluate_all(
        "cells => cells.map(cell => cell.dataset.value).filter(Boolean).map(Number)"
    )
    assert values == sorted(values)
    assert len(values) > 1
    before = rows.count()
    trained.get_by_label("Show only").fill("all rows")
    assert rows.filter(visible=True).count() < before
    trained.get_by_label("Show only").fill("")


def test_a_file_of_ones_own_is_tried_without_leaving_the_browser(trained, tmp_path):
    file = tmp_path / "own.csv"
    file.write_text(OWN_ROWS, encoding="utf-8")
    sent = []
    trained.on("request", lambda request: sent.append(request))  # noqa: PLW0108 - it wants a function
    trained.get_by_label("CSV file").set_input_files(file)
    told = trained.locator("#confusion").get_by_text(re.compile(r"\d of 3 rows predicted right"))
    told.wait_for()
    assert "1 rows have another label" in told.inner_text()
    counts = trained.locator("#confusion td").all_inner_texts()
    assert sum(map(int, counts)) == 3
    assert {(one.method, one.post_data) for one in sent} <= {("GET", None)}
    assert not [one.url for one in sent if "perhaps" in one.url]
    assert [one.url.rpartition("/")[2] for one in sent] == ["javascript"]
    check_page(trained)


def test_a_model_goes_home_in_every_form(trained):
    got = {}
    for name in ("JSON", "SVG", "SQL", "PostgreSQL", "JavaScript", "Rules", "Text", "Certificate"):
        with trained.expect_download() as download:
            link = trained.get_by_role("region", name="Downloads").get_by_role("link", name=name, exact=True)
            link.click()
        got[name] = download.value.path().read_text(encoding="utf-8")
    assert json.loads(got["JSON"])["format"] == "bocage.tree"
    assert got["SVG"].startswith("<svg")
    assert "CASE" in got["SQL"]
    assert "CASE" in got["PostgreSQL"]
    assert "export function predict" in got["JavaScript"]
    assert {"text", "label", "support"} <= set(json.loads(got["Rules"])[0])
    assert json.loads(got["Certificate"])["epsilon"] == "45"


def test_a_forest_shows_the_tree_that_is_chosen_and_its_certificate_speaks_to_people(shared):
    page = shared.log_in(shared.made.analyst("cleo", "2"), size=NARROW, scheme="dark")
    _train(shared, page, "rdt", trees="3", height="1")
    check_page(page)
    page.get_by_role("button", name="Train", exact=True).click()
    _model(page)
    with page.expect_response("**/svg?tree=2") as drawn:
        page.get_by_label("Tree", exact=True).select_option("3 of 3")
    assert drawn.value.ok
    assert page.get_by_role("link", name="SVG").get_attribute("href").endswith("tree=2")
    check_page(page)
    words = page.get_by_role("region", name="Certificate").inner_text()
    assert "differentially private with epsilon = 1" in words
    assert "at most 73 % sure" in words  # e / (1 + e)
    assert "the charge is entry" in words
    for address in ("jobs", "models"):
        page.goto(f"{shared.url}/analyst/{address}")
        check_page(page)


def test_a_dry_run_costs_nothing_and_says_so(shared):
    page = shared.log_in(shared.made.analyst("dan", "1"))
    _train(shared, page, "diffpid3", "0.5", depth="1")
    page.get_by_role("button", name="Dry run").click()
    _model(page)
    assert "says nothing about the table" in page.inner_text("main")
    page.goto(f"{shared.url}/analyst/models")
    assert "dry run" in page.inner_text("main")
    check_page(page)
    page.goto(f"{shared.url}/analyst")
    assert "1 of 1 epsilon left" in page.inner_text("main")


def test_a_model_that_is_no_tree_is_drawn_in_its_own_way(shared):
    page = shared.log_in(shared.made.analyst("eve", "2"))
    _train(shared, page, "additive")
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("link", name="Look at the model").click()
    page.locator(".tree svg").wait_for()
    assert "a model of the kind additive" in page.inner_text("main")
    assert "epsilon = 1" in page.get_by_role("region", name="Certificate").inner_text()
    check_page(page)
