"""A survey: what is asked, and how each answer is distorted before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bocage.errors import BocageError, SchemaError, SurveyError
from bocage.local import documents
from bocage.local.additive_noise import Gaussian, Laplace, Uniform
from bocage.local.discrete import Clear, RandomizedResponse, ValueClass
from bocage.local.distortion import Distortion, checked, system_randomness
from bocage.local.privacy import Privacy, of_record
from bocage.mechanisms import IntArray
from bocage.mechanisms.local_tables import draw_local
from bocage.mechanisms.rng import Randomness
from bocage.schema import Attribute, Schema

FORMAT = "bocage.survey"
VERSION = 1
MOST_TITLE = 500
FINGERPRINT = "bocage_survey"  # the column of a table of records that names their survey

DISTORTIONS: dict[str, type[Distortion]] = {
    kind.kind: kind for kind in (Clear, ValueClass, Uniform, Gaussian, Laplace, RandomizedResponse)
}
_KEYS = {"title", "edition", "schema", "distortions", "fingerprint"}


@dataclass(frozen=True)
class Survey:
    """A schema with a distortion for each of its columns, the label included.

    Parameters
    ----------
    schema
        What is asked. Everything in it is public.
    distortions
        For every column of the schema how its answer is sent. None may be left out: an answer
        without protection is ``Clear()``.
    title
        What participants read above it.
    edition
        A number to raise when the survey changes; every change gives another fingerprint anyway.
    """

    schema: Schema
    distortions: Mapping[str, Distortion]
    title: str = ""
    edition: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.title, str) or len(self.title) > MOST_TITLE:
            raise SurveyError(f"the title of a survey is a text of at most {MOST_TITLE} letters.")
        if any("\ud800" <= letter <= "\udfff" for letter in self.title):
            raise SurveyError("the title of a survey has half a surrogate pair in it.")
        if isinstance(self.edition, bool) or not isinstance(self.edition, int):
            raise SurveyError("the edition of a survey is a whole number.")
        if not 1 <= self.edition < 2**31:
            raise SurveyError(f"the edition of a survey is a number from 1, not {self.edition}.")
        if FINGERPRINT in self.schema.by_name:
            raise SurveyError(f"a column may not be called {FINGERPRINT!r}: records carry that.")
        given = dict(self.distortions)
        for attribute in self.schema:
            if attribute.name not in given:
                raise SurveyError(
                    f"{attribute.name!r} has no distortion. Say how its answer is sent; clear sends it as it is."
                )
            given[attribute.name].check(attribute)
        for name in given:
            if name not in self.schema.by_name:
                raise SurveyError(f"there is a distortion for {short(name)}, which is no column.")
        ordered = {attribute.name: given[attribute.name] for attribute in self.schema}
        object.__setattr__(self, "distortions", ordered)

    def __iter__(self) -> Iterator[tuple[Attribute, Distortion]]:
        """The columns with their distortions, in the order in which they draw: the label last."""
        return ((attribute, self.distortions[attribute.name]) for attribute in self.schema)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the whole survey. Every record carries it."""
        return documents.digest(self._content())

    def distort(self, codes: Mapping[str, IntArray], random: Randomness | None = None) -> dict[str, IntArray]:
        """Distort true codes of every column, each with noise of its own.

        Record after record and column after column, 16 random bytes for each answer that chance
        decides. The randomness is the operating system's; only tests and experiments give another.
        """
        absent = [name for name in self.distortions if name not in codes]
        if absent:
            raise SurveyError(f"there is no answer for {absent[0]!r}.")
        true = {attribute.name: checked(attribute, codes[attribute.name]) for attribute in self.schema}
        sizes = {len(array) for array in true.values()}
        if len(sizes) > 1:
            raise SurveyError("the columns differ in length.")
        tables = {
            attribute.name: table
            for attribute, distortion in self
            if (table := distortion.table(attribute)) is not None
        }
        drawn = draw_local(list(tables.values()), sizes.pop(), random or system_randomness())
        noise = dict(zip(tables, drawn.T, strict=True))
        return {
            attribute.name: distortion.apply(attribute, true[attribute.name], noise.get(attribute.name))
            for attribute, distortion in self
        }

    def privacy(self) -> list[Privacy]:
        """What is protected of each answer, in the order of the columns."""
        return [distortion.privacy(attribute) for attribute, distortion in self]

    def record_privacy(self) -> Privacy:
        """What is protected of a whole record."""
        return of_record(self.schema.name, self.privacy())

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "title": self.title,
            "edition": self.edition,
            "schema": self.schema.to_dict(),
            "distortions": [
                {"name": attribute.name, "kind": distortion.kind, **distortion.parameters()}
                for attribute, distortion in self
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """The survey as plain data, ready for JSON."""
        return {**self._content(), "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, document: Any) -> Survey:
        """Read what `to_dict` wrote; refuse anything else."""
        document = documents.checked(document, FORMAT, VERSION, _KEYS)
        try:
            schema = Schema.from_dict(document["schema"])
        except SchemaError as error:
            raise SurveyError(f"the schema in it: {error}") from None
        survey = cls(schema, _distortions(document["distortions"]), document["title"], document["edition"])
        written = survey.to_dict()
        for key, value in written.items():
            # Other programs hash the file as it stands, so there is one way to write a survey.
            if document[key] != value or type(document[key]) is not type(value):
                raise SurveyError(
                    f'its "{key}" is not as this program writes it, so it was changed by hand or on '
                    "the way. Make the survey again with bocage local survey."
                )
        return survey

    def save(self, path: str | Path) -> None:
        """Write the survey to a file: all of it or nothing."""
        documents.write(Path(path), self.to_dict(), "the survey")

    @classmethod
    def read(cls, path: str | Path) -> Survey:
        """Read a survey from a file that `save` wrote; refuse anything else."""
        path = Path(path)
        content = documents.read(path, "the survey")
        try:
            return cls.from_dict(documents.parse(content, FORMAT, VERSION, _KEYS))
        except BocageError as error:
            raise SurveyError(f"survey {path}: {error}") from None


def _distortions(entries: Any) -> dict[str, Distortion]:
    if not isinstance(entries, list):
        raise SurveyError('"distortions" is a list with an entry for each column.')
    distortions: dict[str, Distortion] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise SurveyError('an entry of "distortions" is an object with a "name" and a "kind".')
        name, kind = entry["name"], entry.get("kind")
        if name in distortions:
            raise SurveyError(f"there are two distortions for {short(name)}.")
        if not isinstance(kind, str) or kind not in DISTORTIONS:
            raise SurveyError(
                f"{short(name)}: there is no distortion {short(kind)}. There are {', '.join(DISTORTIONS)}."
            )
        parameters = {key: value for key, value in entry.items() if key not in ("name", "kind")}
        try:
            distortions[name] = DISTORTIONS[kind].read(parameters)
        except BocageError as error:
            raise SurveyError(f"{short(name)}: {error}") from None
    return distortions
