"""Test vectors: surveys, true records, random bytes, and what must come out, word for word.

``python tests/local/vectors.py`` writes vectors.json anew; only a new version of the survey format
may change what stands there.
"""

from __future__ import annotations

import json
import random
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from bocage.epsilon import Epsilon
from bocage.local import (
    Clear,
    Distortion,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Records,
    Survey,
    Uniform,
    ValueClass,
)
from bocage.mechanisms.rng import RandomBits
from bocage.schema import Attribute, Categorical, Numeric, Schema

NAMES = ["age", "größe", "x y", "constructor", "😀", 'a"b']
GOLDEN = Path(__file__).with_name("vectors.json")


def vector(survey: Survey, rows: list[dict[str, Any]], chance: random.Random) -> dict[str, Any]:
    """One survey with records; every record has its own bytes, sometimes at the very ends."""
    tables = [t for a, d in survey if (t := d.table(a)) is not None]
    cases = []
    for row in rows:
        content = b"".join(_bytes(table.thresholds, chance) for table in tables)
        stream = BytesIO(content)
        source = RandomBits(lambda count, stream=stream: stream.read(count).ljust(count, b"\0"))
        records = Records.distort(survey, {k: [v] for k, v in row.items()}, source)
        [sent] = records.to_documents()
        [shown] = records.to_table().drop_columns(["bocage_survey"]).to_pylist()
        cases.append({"record": row, "bytes": content.hex(), "sent": sent, "shown": shown})
    return {
        "survey": survey.to_dict(),
        "tables": [sha256(",".join(map(str, t.thresholds)).encode()).hexdigest() for t in tables],
        "words": [statement.words for statement in survey.privacy()],
        "whole": survey.record_privacy().words,
        "cases": cases,
    }


def _bytes(thresholds: tuple[int, ...], chance: random.Random) -> bytes:
    """16 bytes: of any integer, or of one at or just below a threshold."""
    whole = chance.getrandbits(128)
    if chance.random() < 0.3:
        whole = max(0, chance.choice(thresholds) - chance.randrange(2))
    high, low = whole >> 64, whole & (2**64 - 1)
    return high.to_bytes(8, "little") + low.to_bytes(8, "little")


def any_survey(chance: random.Random) -> Survey:
    """A survey of a few columns of any kind, with awkward bounds and names."""
    attributes: list[Attribute] = []
    distortions: dict[str, Distortion] = {}
    for place in range(chance.randint(1, 5)):
        name = chance.choice(NAMES) + str(place)
        make = _numeric if chance.random() < 0.7 else _categorical
        attribute: Attribute = make(name, chance)
        attributes.append(attribute)
        distortions[name] = _distortion(attribute, chance)
    label = _categorical("label", chance)
    distortions["label"] = _distortion(label, chance)
    schema = Schema("any", tuple(attributes), label)
    return Survey(schema, distortions, chance.choice(["", "Käse\u007f\n\t\U0001f600"]), 1)


def _numeric(name: str, chance: random.Random) -> Numeric:
    lower = Fraction(chance.choice(["0", "-1/3", "1e6", "-273.15", "0.1"]))
    if chance.random() < 0.5:
        step = Fraction(chance.choice(["1", "0.1", "1/7", "25"]))
        return Numeric(name, lower, lower + step * chance.randint(1, 300), step=step)
    upper = lower + Fraction(chance.choice(["1", "1000", "1/3", "99.9"]))
    return Numeric(name, lower, upper, cells=chance.randint(2, 400), missing=lower)


def _categorical(name: str, chance: random.Random) -> Categorical:
    values = tuple(["yes", "no", "1", "true", "ü", "?"][: chance.randint(2, 6)])
    return Categorical(name, values, missing=chance.choice([None, "no"]), outside="no")


def _distortion(attribute: Attribute, chance: random.Random) -> Distortion:
    epsilon = Epsilon(chance.randint(1, 10 ** chance.randint(5, 10)))
    if isinstance(attribute, Categorical):
        return chance.choice([Clear(), RandomizedResponse(epsilon)])
    cells = attribute.cells
    choices: list[Distortion] = [
        Clear(),
        Laplace(epsilon),
        Uniform(chance.randint(1, 3 * cells)),
        Gaussian(Decimal(chance.randint(300_000_000, cells * 10**9)) / 10**9),
        ValueClass(chance.randint(1, cells - 1)),
        ValueClass(edges=tuple(sorted({chance.randint(1, cells - 1) for _ in range(3)}))),
    ]
    return chance.choice(choices)


def any_row(survey: Survey, chance: random.Random) -> dict[str, Any]:
    """A true record, now and then at the ends of its ranges."""
    row: dict[str, Any] = {}
    for attribute in survey.schema:
        if isinstance(attribute, Categorical):
            row[attribute.name] = chance.choice([*attribute.values, "elsewhere"])
            continue
        lower, upper = float(attribute.lower), float(attribute.upper)
        edge = float(attribute.edge(chance.randrange(attribute.cells)))
        inside = min(max(edge, lower), upper)
        row[attribute.name] = chance.choice([lower, upper, inside, chance.uniform(lower, upper)])
    return row


def vectors(seed: int, surveys: int, records: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)  # noqa: S311 - chooses test cases
    found = []
    for _ in range(surveys):
        survey = any_survey(chance)
        found.append(vector(survey, [any_row(survey, chance) for _ in range(records)], chance))
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(vectors(1, 12, 4), indent=1) + "\n", encoding="utf-8")
