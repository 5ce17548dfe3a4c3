"""The survey page, in a browser: what is distorted there, and what never leaves it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from browsing import NARROW, check_page

from bocage.errors import ScopeClosed, SurveyError
from bocage.local import Clear, Laplace, RandomizedResponse, Records, Survey
from bocage.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "commute",
        "attributes": [
            {"name": "minutes", "type": "numeric", "lower": 0, "upper": 59999, "step": 1},
            {"name": "transport", "type": "categorical", "values": ["onfoot", "bybus", "bycar"]},
        ],
        "target": {"name": "content", "type": "categorical", "values": ["pleased", "annoyed"]},
    }
)


def _survey(**label):
    how = {"minutes": Laplace("1"), "transport": RandomizedResponse("1")}
    return Survey(SCHEMA, {**how, "content": RandomizedResponse("1")}, title="How do you travel?")


@pytest.fixture
def survey(site):
    return site.inside.service.surveys.add(_survey())


def _fill(page, minutes="51234", transport="bybus", content="annoyed"):
    page.get_by_label("minutes").fill(minutes)
    page.get_by_label("transport").select_option(transport)
    page.get_by_label("content").select_option(content)


def test_the_owner_makes_a_survey_and_a_participant_answers_it(site):
    owner = site.log_in(site.owner_key())
    owner.goto(f"{site.url}/owner/surveys")
    check_page(owner)
    owner.get_by_role("link", name="Make a survey").click()
    check_page(owner)
    owner.get_by_role("button", name="Choose the distortions").click()
    check_page(owner)
    owner.get_by_label("Title").fill("Commuting")
    owner.get_by_label("Parameter").first.fill("0")
    owner.get_by_role("button", name="Open the survey").click()
    assert "epsilon" in owner.get_by_role("alert").inner_text().lower()
    assert owner.get_by_label("Title").input_value() == "Commuting"
    owner.complaints.clear()  # a refusal has a status that the browser notes
    owner.get_by_label("Parameter").first.fill("2")
    owner.get_by_role("button", name="Open the survey").click()
    check_page(owner)
    person = site.look()
    person.goto(site.url + owner.locator("#address").get_attribute("href"))
    check_page(person)
    person.get_by_label("age").fill("33")
    person.get_by_label("transport").select_option("bus")
    person.get_by_label("content").select_option("no")
    person.get_by_role("button", name="Distort in this page").click()
    check_page(person)
    person.get_by_role("button", name="Send the distorted answers").click()
    person.get_by_text("Thank you").wait_for()
    owner.locator("#answers", has_text="1").wait_for()


def test_true_values_occur_in_nothing_that_leaves_the_page(site, survey):
    """51234 minutes is one of 60,000 answers: by chance alone it is sent once in 50,000 runs or
    so, so the test looks at what was sent as distorted and allows only that.
    """
    page = site.look()
    seen: list[str] = []
    page.on("request", lambda r: seen.append(f"{r.url} {r.headers} {r.post_data or ''}"))
    page.goto(f"{site.url}/survey/{survey}")
    _fill(page)
    page.get_by_role("button", name="Distort in this page").click()
    page.get_by_text("What would be sent").wait_for()
    kept = page.evaluate("JSON.stringify(Object.entries(localStorage))")
    page.get_by_role("button", name="Send the distorted answers").click()
    page.get_by_text("Thank you").wait_for()
    sent = [text for text in seen if "/answers" in text]
    assert len(sent) == 1
    body = json.loads(sent[0][sent[0].index('{"token"') :])
    assert set(body) == {"token", "record"}
    assert set(body["record"]["answers"]) == {"minutes", "transport", "content"}
    minutes = body["record"]["answers"]["minutes"]
    assert minutes in range(60_000)
    for text in (*seen, kept):
        without = text.replace(f'"minutes":{minutes}', "").replace(f'minutes\\":{minutes}', "")
        assert "51234" not in without
        assert "bybus" not in text
        assert "annoyed" not in text
    assert {text.split("/survey/")[0] for text in seen if "/survey/" in text} == {site.url}


def test_the_distortion_stays_the_same_for_whoever_comes_back(site, survey):
    page = site.look()
    shown = []
    for minutes in ("500", "500", "55000"):
        page.goto(f"{site.url}/survey/{survey}")
        _fill(page, minutes)
        page.get_by_role("button", name="Distort in this page").click()
        page.get_by_text("What would be sent").wait_for()
        shown.append(page.locator("td.sent").all_inner_texts())
        page.get_by_role("button", name="Send the distorted answers").click()
        page.locator("#done").wait_for()
    assert shown[0] == shown[1] == shown[2]
    assert "count once" in page.inner_text("#done")
    assert site.inside.service.surveys.count(survey) == 1


def test_an_answer_that_is_not_asked_for_is_refused_in_the_page(site, survey):
    page = site.look()
    page.goto(f"{site.url}/survey/{survey}")
    for minutes, said in (("", "please answer"), ("soon", "not a number"), ("-4", "outside")):
        _fill(page, minutes)
        page.get_by_role("button", name="Distort in this page").click()
        page.get_by_role("alert").filter(has_text=said).wait_for()
    assert page.evaluate("localStorage.length") == 0


def test_the_owner_trains_and_publishes_and_a_participant_is_classified_with_nothing_sent(site, survey):
    rng = np.random.default_rng(7)
    minutes = rng.integers(0, 60_000, 3000)
    truth = {
        "minutes": minutes,
        "transport": rng.integers(0, 3, 3000),
        "content": (minutes > 30_000).astype(int),
    }
    clear = Survey(SCHEMA, dict.fromkeys(("minutes", "transport", "content"), Clear()), title="x")
    mine = site.inside.service.surveys.add(clear)
    records = Records(clear, {name: codes.astype(np.int64) for name, codes in truth.items()})
    for at, document in enumerate(records.to_documents()[:400]):
        site.inside.service.surveys.answer(mine, f"{at:032x}", document)
    owner = site.log_in(site.owner_key())
    owner.goto(f"{site.url}/owner/surveys/{mine}")
    owner.locator("#answers", has_text="400").wait_for()
    owner.get_by_role("button", name="Train (ByClass)").click()
    owner.get_by_role("button", name="Publish to participants").click()
    owner.get_by_role("status").filter(has_text="Published").wait_for()
    check_page(owner)
    person = site.look()
    person.goto(f"{site.url}/survey/{mine}")
    person.get_by_label("minutes").fill("55000")
    person.get_by_label("transport").select_option("bycar")
    person.get_by_role("button", name="Classify me here").wait_for()
    seen: list[str] = []
    person.on("request", lambda request: seen.append(request.url))
    person.get_by_role("button", name="Classify me here").click()
    person.locator("#verdict", has_text="content: annoyed").wait_for()
    assert seen == []
    check_page(person)


def test_a_closed_survey_takes_nothing_and_forged_answers_are_refused(site, survey):
    surveys, client = site.inside.service.surveys, site.inside.client
    (good,) = Records.from_documents(
        _survey(),
        [
            {
                "survey": _survey().fingerprint,
                "answers": {"minutes": 5, "transport": 1, "content": 0},
            }
        ],
    ).to_documents()
    for token, record in (
        ("short", good),
        ("0" * 32, {**good, "survey": "0" * 64}),
        ("0" * 32, {**good, "answers": {**good["answers"], "transport": 3}}),
        ("0" * 32, {**good, "answers": {**good["answers"], "minutes": 10**9}}),
        ("0" * 32, {**good, "answers": {"minutes": 5}}),
        ("0" * 32, {**good, "more": 1}),
        ("0" * 32, None),
    ):
        with pytest.raises(SurveyError):
            surveys.answer(survey, token, record)
    headers = {"Origin": site.url}
    for body in (b"", b"[]", b'{"token": 1}', b'{"token": 1, "record": 2}', b"\xff"):
        answer = client.post(f"/survey/{survey}/answers", content=body, headers=headers)
        assert answer.status_code in (400, 422), body
        assert "error" in answer.json()
    surveys.set_state(survey, "closed")
    with pytest.raises(ScopeClosed):
        surveys.answer(survey, "0" * 32, good)
    assert surveys.count(survey) == 0


def test_the_page_fits_a_telephone_in_the_dark(site, survey):
    page = site.look(size=NARROW, scheme="dark")
    page.goto(f"{site.url}/survey/{survey}")
    _fill(page)
    page.get_by_role("button", name="Distort in this page").click()
    page.get_by_text("What would be sent").wait_for()
    check_page(page)
