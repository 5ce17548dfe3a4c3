"""A real browser, a service that it looks at, and what every page must pass."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2] / "service"))

from running import Inside, Made

from bocage.service.core.sessions import Sessions

_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def started_chromium():
    program = os.environ.get("BOCAGE_CHROMIUM") or shutil.which("chromium")
    assert program, "the browser tests need Chromium: run apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield browser
        browser.close()


class Site:
    """A home with a table, its service, and browsers that look at it."""

    def __init__(self, path: Path, chromium, made: Made | None = None, **settings) -> None:
        self.made = made or Made(path)
        self.chromium = chromium
        self.home = self.made.opened(**settings)
        self.inside = Inside(self.home)
        self.url = str(self.inside.client.base_url).rstrip("/")
        self._contexts: list = []

    def owner_key(self) -> str:
        sessions = Sessions(self.home.registry_address, 30)
        try:
            return sessions.new_owner_key()
        finally:
            sessions.close()

    def look(self, *, size=None, scheme="light"):
        """A new browser window without cookies; an error on the page's console fails the test."""
        context = self.chromium.new_context(viewport=size or WIDE, color_scheme=scheme)
        context.set_default_timeout(20_000)
        self._contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        return page

    def log_in(self, key: str, **options):
        page = self.look(**options)
        page.goto(f"{self.url}/login")
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(lambda url: "/login" not in url)
        return page

    def stop(self) -> None:
        for context in self._contexts:
            context.close()
        self.inside.stop()


def check_page(page) -> None:
    """Nothing that axe objects to, nothing wider than the window, no error on the console."""
    found = Axe().run(page).response["violations"]
    told = [f"{one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}" for one in found]
    assert told == [], told
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, f"{page.url} is {wide} pixels wider than the window"
    assert page.complaints == [], page.complaints
