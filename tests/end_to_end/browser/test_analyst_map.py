"""The map in a browser: which learner, before any budget is spent."""

from __future__ import annotations

import re

import pytest
from browsing import Site, check_page

from bocage.frontier import Chart, candidates
from bocage.service.web.accuracy_map import drawing


@pytest.fixture
def site(tmp_path, chromium):
    found = Site(tmp_path, chromium)
    yield found
    found.stop()


def test_the_map_is_drawn_once_and_leads_to_a_learner_without_a_charge(site):
    page = site.log_in(site.made.analyst("ann", "2"))
    page.set_default_timeout(240_000)  # every learner runs on several made-up tables
    page.goto(f"{site.url}/analyst/tables/people/map")
    check_page(page)
    page.get_by_role("button", name="Draw the map").click()
    assert page.locator("#words").inner_text().endswith("runs")
    check_page(page)
    advice = page.get_by_role("status", name="Advice")
    advice.wait_for()
    check_page(page)
    page.get_by_label("Rows", exact=True).fill("500")
    page.get_by_label("Epsilon", exact=True).fill("0.5")
    page.get_by_role("button", name="Advise").click()
    told = advice.inner_text()
    assert re.match(r"With 500 rows and epsilon 0.5 take \w+.*: expect \d+ ± \d+ %", told)
    assert page.locator("svg.chart .frontier").count() == 1
    assert page.locator("svg.chart .line0").count() == 2  # in the chart and beside the name
    schema = site.inside.service.registry.table("people").schema
    assert page.locator("tbody tr").count() == len(candidates(schema))
    assert "Left out, as they take no numeric columns: sulq_id3" in page.inner_text("main")
    page.get_by_label("Rows", exact=True).fill("many")
    page.get_by_role("button", name="Advise").click()
    assert "whole number" in page.get_by_role("alert").inner_text()
    page.go_back()
    page.get_by_role("link", name="Train with").click()
    assert "/train?learner=" in page.url
    assert page.locator("#left").inner_text() == "2"
    assert isinstance(drawing.look(site.home.path, schema), Chart)  # kept, for all analysts


def test_a_map_whose_process_is_gone_can_be_begun_again(site):
    schema = site.inside.service.registry.table("people").schema
    chart, progress = drawing._files(site.home.path, schema)
    chart.parent.mkdir()
    drawing._tell(progress, drawing.Progress(3, 9), process=2**22 + 1)  # no such process
    assert drawing.look(site.home.path, schema) is None
    drawing._tell(progress, drawing.Progress(3, 9, "no learner can"), process=2**22 + 1)
    assert drawing.look(site.home.path, schema) == drawing.Progress(3, 9, "no learner can")
