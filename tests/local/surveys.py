"""A survey small enough to count by hand, with every kind of distortion."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO

from bocage.local import (
    Clear,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Survey,
    Uniform,
    ValueClass,
)
from bocage.mechanisms.rng import RandomBits
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "clinic",
    (
        Numeric("age", Fraction(0), Fraction(100), step=Fraction(1), missing=Fraction(40)),
        Numeric("salary", Fraction(20000), Fraction(150000), cells=1024),
        Numeric("weight", Fraction("0.1"), Fraction("200.3"), cells=300),
        Numeric("height", Fraction(1), Fraction(2), cells=50),
        Categorical("job", ("farmer", "clérk", "other"), outside="other"),
        Categorical("town", ("north", "south")),
    ),
    Categorical("ill", ("no", "yes")),
)
DISTORTIONS = {
    "age": Laplace("2"),
    "salary": Gaussian.of_privacy(SCHEMA["salary"], 100),
    "weight": Uniform.of_privacy(SCHEMA["weight"], 50),
    "height": ValueClass(10),
    "job": RandomizedResponse("1.5"),
    "town": Clear(),
    "ill": RandomizedResponse("3"),
}
SURVEY = Survey(SCHEMA, DISTORTIONS, title="Health & work", edition=2)
ROW = {
    "age": 34,
    "salary": 52000.5,
    "weight": 71.25,
    "height": 1.71,
    "job": "clérk",
    "town": "south",
    "ill": "no",
}


def columns(*rows: dict) -> dict[str, list]:
    return {name: [row[name] for row in rows] for name in ROW}


def from_bytes(content: bytes) -> RandomBits:
    """Randomness for tests: these bytes, then zeros."""
    stream = BytesIO(content)
    return RandomBits(lambda count: stream.read(count).ljust(count, b"\0"))
