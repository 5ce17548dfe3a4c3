"""Surveys of people who trust nobody: what was asked, and the distorted answers that came back.

Nothing true is ever here. An answer carries a token that its sender made up, so that sending it again
changes nothing; it says nothing about who they are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from bocage.errors import NotFound, ScopeClosed, SurveyError
from bocage.local import Records, Survey, SurveyTree
from bocage.model import Tree, from_dict, to_dict
from bocage.model.export.json import parse
from bocage.service.core.registry import new_id, now
from bocage.service.core.store import open_store

TOKEN = re.compile(r"[0-9a-f]{32}")
MOST_ANSWERS = 10**7
PAGE = 10_000  # answers that are read at a time
_HEAD = "id, title, body, state, published, created"


@dataclass(frozen=True)
class Kept:
    """A survey as it is kept."""

    id: str
    title: str
    survey: Survey
    state: str  # open or closed
    published: bool  # whether participants may have the model
    created: str


class Surveys:
    """The surveys of a home. One may be shared by threads, processes and hosts."""

    def __init__(self, target: str) -> None:
        self._store = open_store(target)
        self._read: dict[str, tuple[int, Records]] = {}  # answers are added, never changed

    def add(self, survey: Survey) -> str:
        """Open a survey; returns its id, which is in the address that participants get."""
        name = new_id()
        body = json.dumps(survey.to_dict(), ensure_ascii=False)
        with self._store.write() as run:
            ((last,),) = run("SELECT COALESCE(max(number), 0) FROM surveys")
            row = (name, int(last) + 1, survey.title, body, survey.fingerprint, "open")
            run("INSERT INTO surveys VALUES (?, ?, ?, ?, ?, ?, NULL, 0, ?)", *row, now())
        return name

    def all(self) -> list[Kept]:
        """All surveys, newest first."""
        with self._store.read() as run:
            rows = run(f"SELECT {_HEAD} FROM surveys ORDER BY number DESC")
        return [_kept(row) for row in rows]

    def get(self, survey: str) -> Kept:
        with self._store.read() as run:
            rows = run(f"SELECT {_HEAD} FROM surveys WHERE id = ?", survey)
        if not rows:
            raise NotFound("there is no such survey.")
        return _kept(rows[0])

    def set_state(self, survey: str, state: str) -> None:
        with self._store.write() as run:
            run("UPDATE surveys SET state = ? WHERE id = ?", state, survey)

    # Answers

    def answer(self, survey: str, token: Any, document: Any) -> bool:
        """Keep a distorted record; whether it is new. What was sent first under a token stays."""
        if not isinstance(token, str) or not TOKEN.fullmatch(token):
            raise SurveyError("an answer carries a token of 32 hexadecimal digits.")
        kept = self.get(survey)
        if kept.state != "open":
            raise ScopeClosed("this survey is closed. Nothing was kept.")
        (made,) = Records.from_documents(kept.survey, [document]).to_documents()
        with self._store.write() as run:
            if run("SELECT 1 FROM answers WHERE survey = ? AND token = ?", survey, token):
                return False
            rows = run("SELECT COALESCE(max(number), 0) FROM answers WHERE survey = ?", survey)
            number = int(rows[0][0]) + 1
            if number > MOST_ANSWERS:
                raise SurveyError(f"a survey keeps at most {MOST_ANSWERS} answers.")
            body = json.dumps(made["answers"], separators=(",", ":"), ensure_ascii=False)
            run("INSERT INTO answers VALUES (?, ?, ?, ?)", survey, number, token, body)
        return True

    def count(self, survey: str) -> int:
        """How many people have answered. They sent it themselves, so it is no secret."""
        with self._store.read() as run:
            ((number,),) = run("SELECT count(*) FROM answers WHERE survey = ?", survey)
        return int(number)

    def records(self, survey: str) -> Records:
        """All distorted records, in the order in which they came; only new ones are read."""
        asked = self.get(survey).survey
        last, known = self._read.get(survey) or (0, Records.from_documents(asked, []))
        parts = [known]
        while rows := self._page(survey, last):
            answers = [{"survey": asked.fingerprint, "answers": json.loads(row[1])} for row in rows]
            parts.append(Records.from_documents(asked, answers))
            last = rows[-1][0]
        whole = Records.join(parts) if len(parts) > 1 else known
        self._read[survey] = (last, whole)
        return whole

    def _page(self, survey: str, after: int) -> list[tuple[int, str]]:
        with self._store.read() as run:
            return run(
                "SELECT number, body FROM answers WHERE survey = ? AND number > ? ORDER BY number LIMIT ?",
                *(survey, after, PAGE),
            )

    # The model

    def train(self, survey: str) -> Tree:
        """Grow a tree by the algorithm ByClass and keep it, not yet for participants."""
        tree = SurveyTree("byclass").fit(self.records(survey))
        body = json.dumps(to_dict(tree)).encode()
        with self._store.write() as run:
            run("UPDATE surveys SET model = ?, published = 0 WHERE id = ?", body, survey)
        return tree

    def model(self, survey: str, *, published: bool = False) -> bytes | None:
        """The model as JSON, if there is one; with `published`, if participants may have it."""
        with self._store.read() as run:
            rows = run("SELECT model, published FROM surveys WHERE id = ?", survey)
        if not rows:
            raise NotFound("there is no such survey.")
        body, told = rows[0]
        return None if body is None or (published and not told) else bytes(body)

    def tree(self, survey: str) -> Tree | None:
        body = self.model(survey)
        model = None if body is None else from_dict(parse(body))
        return model if isinstance(model, Tree) else None

    def publish(self, survey: str) -> None:
        """Let participants have the model, to be applied on their own machines."""
        if self.model(survey) is None:
            raise SurveyError("train a model first.")
        with self._store.write() as run:
            run("UPDATE surveys SET published = 1 WHERE id = ?", survey)

    def close(self) -> None:
        self._store.close()


def _kept(row: tuple[Any, ...]) -> Kept:
    name, title, body, state, published, created = row
    return Kept(name, title, Survey.from_dict(json.loads(body)), state, bool(published), created)
