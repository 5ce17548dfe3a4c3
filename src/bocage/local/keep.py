"""A person's own memory of what they have sent: a repeated question gets the same answer.

Noise that is drawn twice can be averaged away, so the first answer to a survey stays. The file
holds what was sent, under the fingerprint of the survey and a name for the record, and none of the
true answers. Nobody but its owner may read it.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bocage.documents.reading import OWN
from bocage.errors import BocageError, SurveyError
from bocage.local import documents
from bocage.local.records import Records
from bocage.local.survey import Survey
from bocage.mechanisms import IntArray
from bocage.mechanisms.rng import Randomness

FORMAT = "bocage.kept"
VERSION = 1
MOST_NAME = 200

AVERAGES = (
    "The earlier answer is forgotten and a new one is drawn. Whoever has both can average the noise "
    "away in part: together they tell more than one. Do not repeat this."
)


class Kept:
    """The answers kept in one file, which need not exist yet.

    Parameters
    ----------
    path
        The file. Only its owner may read it (mode 0600).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def answer(
        self,
        survey: Survey,
        names: Sequence[str],
        codes: Mapping[str, IntArray],
        random: Randomness | None = None,
    ) -> Records:
        """The records to send: those kept for a name, and fresh ones, kept before they are returned.

        What was answered first stays, also if the true answer has changed since: an answer to the
        new value would be a second draw about the same person.

        Parameters
        ----------
        names
            What each record is called, such as ``["me"]``. It is never sent.
        codes
            The true codes, for every column of the survey.
        """
        for name in names:
            _check_name(name)
        if len(set(names)) < len(names):
            raise SurveyError("two records have the same name; each person answers once.")
        with self._locked():
            surveys = self._read()
            kept = surveys.setdefault(survey.fingerprint, {})
            new = [i for i, name in enumerate(names) if name not in kept]
            if new:
                wanted = {column: np.asarray(array)[new] for column, array in codes.items()}
                sent = survey.distort(wanted, random)
                rows = zip(*(array.tolist() for array in sent.values()), strict=True)
                kept |= {names[i]: list(row) for i, row in zip(new, rows, strict=True)}
                self._write(surveys)
        return _records(survey, [kept[name] for name in names])

    def names(self, survey: Survey) -> list[str]:
        """The names of the records that this survey was answered for."""
        return list(self._read().get(survey.fingerprint, {}))

    def forget(self, survey: Survey, names: Sequence[str]) -> int:
        """Forget what was answered, so that the next answer is a new draw; returns how many were.

        Privacy
        -------
        Two draws can be averaged: their epsilons add up. Tell the person so (`AVERAGES`).
        """
        with self._locked():
            surveys = self._read()
            kept = surveys.get(survey.fingerprint, {})
            gone = [name for name in names if kept.pop(name, None) is not None]
            if gone:
                self._write(surveys)
        return len(gone)

    def _read(self) -> dict[str, dict[str, list[int]]]:
        if not self.path.exists():
            return {}
        content = documents.read(self.path, "the file of answers", OWN)
        try:
            surveys_on_file = documents.parse(content, FORMAT, VERSION, {"surveys"}, OWN)["surveys"]
            _check(surveys_on_file)
        except BocageError as error:
            raise SurveyError(
                f"the file of answers {self.path}: {error} Nothing was sent: without it an answer "
                "would be drawn anew. Restore it, or name another file."
            ) from None
        surveys: dict[str, dict[str, list[int]]] = surveys_on_file
        return surveys

    def _write(self, surveys: dict[str, Any]) -> None:
        document = {"format": FORMAT, "version": VERSION, "surveys": surveys}
        documents.write(self.path, document, "the file of answers", private=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One program at a time, so that two of them do not draw for the same person."""
        place = self.path.with_name(f".{self.path.name}.lock")
        try:
            with place.open("a") as lock:
                place.chmod(0o600)
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise SurveyError(f"the file of answers {self.path} cannot be used: {error.strerror}.") from None


def _records(survey: Survey, rows: list[list[int]]) -> Records:
    width = len(survey.distortions)
    if any(len(row) != width for row in rows):
        raise SurveyError("the file of answers has a record that does not fit this survey.")
    columns = np.array(rows, np.int64).reshape(len(rows), width).T
    return Records(survey, dict(zip(survey.distortions, columns, strict=True)))


def _check(surveys: Any) -> None:
    if not isinstance(surveys, dict) or not all(isinstance(kept, dict) for kept in surveys.values()):
        raise SurveyError('"surveys" is an object of objects.')
    for kept in surveys.values():
        for row in kept.values():
            if not isinstance(row, list) or not all(type(code) is int for code in row):
                raise SurveyError("a kept record is a list of whole numbers.")
            if any(abs(code) > 2**31 for code in row):
                raise SurveyError("a kept record has a number that is no code.")


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not 1 <= len(name) <= MOST_NAME:
        raise SurveyError(f"the name of a record is a text of 1 to {MOST_NAME} letters.")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise SurveyError("the name of a record has half a surrogate pair in it.")
