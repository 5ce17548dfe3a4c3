"""Pictures of every page of the console, wide and narrow, light and dark: `make screenshots`.

With names of pages (``ARGS="analyst-table survey"``) only these are taken.

All of them go to out/screenshots; those that the documentation shows also go to docs/images/console,
with fewer colors, so that they stay small.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from browsing import NARROW, WIDE, Site, started_chromium
from PIL import Image
from running import Made, bearer, wait_for_job

from bocage.demo.people import make_people, write_people
from bocage.local import RandomizedResponse, Records, Survey
from bocage.schema import Schema
from bocage.service.core.directory import Home
from bocage.service.web.accuracy_map import drawing

ROOT = Path(__file__).parents[3]
ALL, SHOWN = ROOT / "out" / "screenshots", ROOT / "docs" / "images" / "console"
ROWS, PARTICIPANTS = 20_000, 400
# What the documentation shows, each in one size and scheme.
IN_THE_DOCS = {
    "owner-table-wide-light",
    "analyst-table-wide-light",
    "analyst-train-wide-light",
    "analyst-model-wide-dark",
    "analyst-map-wide-light",
    "survey-narrow-light",
}
COMMUTE = {
    "name": "commute",
    "attributes": [
        {"name": "transport", "type": "categorical", "values": ["foot", "bus", "car", "train"]},
        {"name": "distance", "type": "categorical", "values": ["short", "medium", "long"]},
    ],
    "target": {"name": "content", "type": "categorical", "values": ["yes", "no"]},
}


class People(Made):
    """A home with made-up people who do not fit on one hand."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.rows, self.schema = write_people(make_people(ROWS), path)
        self.path, self.keys = path / "home", {}
        Home.create(self.path)
        with self.owner() as owner:
            owner.add_table("people", str(self.rows), self.schema, "10")


def prepare(site: Site) -> dict[str, str]:
    """Questions, models, a map and a survey, so that no page is empty; the addresses of some."""
    client, found = site.inside.client, {}
    for name, budget in (("ann", "5"), ("bob", "2")):
        client.headers.update(bearer(site.made.analyst(name, budget)))
        for where in ("age >= 65", "work = 'overtime'", "education = 'university'"):
            plan = [{"op": "where", "predicate": where}]
            body = {"plan": plan, "ask": {"kind": "noisy_count", "epsilon": "0.1"}}
            client.post("/v1/tables/people/query", json=body).raise_for_status()
    client.headers.update(bearer(site.made.keys["ann"]))
    columns = ["age", "sex", "education", "work", "hours"]
    for learner, parameters in (
        ("rdt", {"trees": 5, "height": 3}),
        ("additive", {}),
        ("diffpc45", {"depth": 3, "attributes": columns}),
    ):
        body = {"learner": learner, "parameters": parameters, "epsilon": "0.5"}
        job = client.post("/v1/tables/people/learn", json=body).raise_for_status().json()["job"]
        found["job"], found[learner] = job, wait_for_job(client, job, 300)["model"]
    client.headers.pop("Authorization")
    found["survey"] = _survey(site)
    return found


def _draw_map(site: Site) -> None:
    """The map of all learners takes minutes."""
    schema = site.inside.service.registry.table("people").schema
    drawing.draw(site.home.path, schema)
    while isinstance(drawing.look(site.home.path, schema), drawing.Progress):
        time.sleep(1)


def _survey(site: Site) -> str:
    schema = Schema.from_dict(COMMUTE)
    how = {name: RandomizedResponse("2") for name in ("transport", "distance", "content")}
    survey = Survey(schema, how, title="How do you travel?")
    made: str = site.inside.service.surveys.add(survey)
    random = np.random.default_rng(5)  # nobody's answers
    far = random.choice(3, PARTICIPANTS, p=[0.5, 0.3, 0.2])
    chances = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.4, 0.4, 0.1], [0.0, 0.1, 0.5, 0.4]])
    by = (random.random(PARTICIPANTS)[:, None] > chances[far].cumsum(axis=1)).sum(axis=1)
    sorry = (random.random(PARTICIPANTS) < np.array([0.1, 0.3, 0.7])[far]).astype(np.int64)
    truth = {"transport": by.clip(0, 3), "distance": far, "content": sorry}
    codes = survey.distort({name: column.astype(np.int64) for name, column in truth.items()})
    for at, document in enumerate(Records(survey, codes).to_documents()):
        site.inside.service.surveys.answer(made, f"{at:032x}", document)
    return made


def pages(found: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name, who looks, and address of every page."""
    yield "login", "nobody", "/login"
    yield "survey", "nobody", f"/survey/{found['survey']}"
    for name in ("analysts", "ledger", "jobs", "models", "surveys"):
        yield f"owner-{name}", "owner", f"/owner/{name}"
    yield "owner-tables", "owner", "/owner"
    yield "owner-table", "owner", "/owner/tables/people"
    yield "owner-new-table", "owner", "/owner/tables/new"
    yield "owner-model", "owner", f"/owner/models/{found['diffpc45']}"
    yield "owner-new-survey", "owner", "/owner/surveys/new"
    yield "owner-survey", "owner", f"/owner/surveys/{found['survey']}"
    yield "analyst-tables", "ann", "/analyst"
    yield "analyst-table", "ann", "/analyst/tables/people"
    yield "analyst-train", "ann", "/analyst/tables/people/train?learner=diffpc45"
    yield "analyst-map", "ann", "/analyst/tables/people/map?rows=20000&epsilon=1"
    yield "analyst-jobs", "ann", "/analyst/jobs"
    yield "analyst-job", "ann", f"/analyst/jobs/{found['job']}"
    yield "analyst-models", "ann", "/analyst/models"
    yield "analyst-model", "ann", f"/analyst/models/{found['diffpc45']}"
    yield "analyst-forest", "ann", f"/analyst/models/{found['rdt']}"
    yield "analyst-additive", "ann", f"/analyst/models/{found['additive']}"
    yield "analyst-ledger", "ann", "/analyst/ledger"


def act(name: str, page: Any) -> None:
    """Do what makes a page worth looking at."""
    if name == "analyst-table":
        page.get_by_role("button", name="Add a condition").click()
        page.get_by_label("Column", exact=True).select_option("age")
        page.get_by_label("Operator").select_option("≥")
        page.get_by_label("Value", exact=True).fill("50")
        page.get_by_label("What", exact=True).select_option("How many rows for each value")
        page.get_by_label("of", exact=True).first.select_option("education")
        page.get_by_role("button", name="Ask", exact=True).click()
        page.locator("#answers svg").first.wait_for()
    if "model" in name and page.locator(".tree .node").count():
        page.locator(".tree .node").nth(1).click()
    if name == "survey":
        for label, value in (("transport", "bus"), ("distance", "long"), ("content", "no")):
            page.get_by_label(label).select_option(value)
        page.get_by_role("button", name="Distort in this page").click()


def take(site: Site, found: dict[str, str], only: list[str]) -> None:
    keys = {"owner": site.owner_key(), **site.made.keys}
    if not only or "analyst-map" in only:
        _draw_map(site)
    for size, width in ((WIDE, "wide"), (NARROW, "narrow")):
        for scheme in ("light", "dark"):
            looking: dict[str, Any] = {}
            for name, who, address in pages(found):
                if only and name not in only:
                    continue
                if who not in looking:
                    options = {"size": size, "scheme": scheme}
                    nobody = who == "nobody"
                    looking[who] = site.look(**options) if nobody else site.log_in(keys[who], **options)
                page = looking[who]
                page.goto(site.url + address)
                page.wait_for_timeout(1500)  # pages that fetch a drawing or a price
                act(name, page)
                page.wait_for_timeout(500)
                file = ALL / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=file, full_page=True)
                if file.stem in IN_THE_DOCS:
                    with Image.open(file) as picture:
                        small = picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64)
                        small.save(SHOWN / file.name, optimize=True)
                if page.complaints:
                    sys.stderr.write(f"{file.stem}: {page.complaints}\n")
                    page.complaints.clear()


def main() -> None:
    for folder in (ALL, SHOWN):
        folder.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp())
    try:
        with started_chromium() as chromium:
            site = Site(path, chromium, made=People(path))
            try:
                take(site, prepare(site), sys.argv[1:])
            finally:
                site.stop()
    finally:
        shutil.rmtree(path, ignore_errors=True)
    sys.stdout.write(f"{len(list(ALL.glob('*.png')))} pictures are in {ALL.relative_to(ROOT)}.\n")


if __name__ == "__main__":
    main()
