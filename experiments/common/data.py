"""The public data sets of the papers, as Arrow tables with their public schemas.

A file is looked for in the directory BOCAGE_DATA, then in ``../shared/data`` beside the repository,
then in the cache; what is nowhere is fetched from the UCI repository into the cache. Whatever the
place, the sorted lines of a file must have the checksum in ``schemas/lines.json``: mirrors differ in
order and line ends, and neither matters here.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.request import urlopen

import numpy as np
import pyarrow as pa

from bocage.schema import Schema

ROOT = Path(__file__).parents[2]
SCHEMAS = Path(__file__).parent / "schemas"
NAMES = tuple(sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json")))
Missing = Literal["value", "drop"]


@dataclass(frozen=True)
class DataSet:
    """A public table: rows in memory, and the document that its schema is made of."""

    document: dict[str, Any]
    table: pa.Table

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def label(self) -> str:
        return str(self.document["target"]["name"])

    @cached_property
    def labels(self) -> np.ndarray:
        """The code of every row's label, in the order of the schema."""
        index = {value: code for code, value in enumerate(self.document["target"]["values"])}
        return np.array([index[value] for value in self.table[self.label].to_pylist()])

    @cached_property
    def schema(self) -> Schema:
        return Schema.from_dict(self.document)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def take(self, rows: np.ndarray) -> pa.Table:
        return self.table.take(pa.array(rows))

    def with_schema(self, **changes: Any) -> DataSet:
        """The same rows under a changed document, such as ``row_cap=50_000``."""
        return DataSet({**self.document, **changes}, self.table)


def load(
    name: str,
    *,
    missing: Missing = "value",
    without: Sequence[str] = (),
    grids: Mapping[str, Mapping[str, int]] | None = None,
    merge: Mapping[str, str] | None = None,
    row_cap: int | None = None,
) -> DataSet:
    """Load a data set, its test file included.

    Parameters
    ----------
    missing
        ``"value"``: the marker is a value of its own. ``"drop"``: rows with a marker are left out.
    without
        Attributes to leave out.
    grids
        Grid of numeric attributes, such as ``{"age": {"step": 1}, "fnlwgt": {"cells": 1000}}``.
    merge
        Labels to be merged into others, such as ``{"recommend": "spec_prior"}``.
    row_cap
        The public bound on the number of rows.
    """
    document = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    rows = list(_rows(document))
    marker = document["missing"]
    if missing == "drop" and marker is not None:
        rows = [row for row in rows if marker not in row]
        document = {k: v for k, v in document.items() if k not in {"missing", "missing_in"}}
    elif set(without) & set(document.get("missing_in", [])):
        kept = [c for c in document["missing_in"] if c not in without]
        document = {**document, "missing_in": kept}
    attributes = [a | (grids or {}).get(a["name"], {}) for a in document["attributes"]]
    target = document["target"]
    target = {**target, "values": [v for v in target["values"] if v not in (merge or {})]}
    document = {
        **document,
        "attributes": [a for a in attributes if a["name"] not in without],
        "target": target,
        **({} if row_cap is None else {"row_cap": row_cap}),
    }
    fields = dict(zip(document["columns"], zip(*rows, strict=True), strict=True))
    fields[target["name"]] = [(merge or {}).get(v, v) for v in fields[target["name"]]]
    columns = {a["name"]: _column(a, fields[a["name"]]) for a in document["attributes"]}
    columns[target["name"]] = _column({"type": "categorical"}, fields[target["name"]])
    return DataSet(document, pa.table(columns))


def folds(labels: np.ndarray, k: int, repetition: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds as pairs of training and test rows: the same for every algorithm.

    The rows of each label are dealt out in a random order, one label after the other, so that the
    folds differ in size by one row at most. The seed decides on folds only, never on noise.
    """
    rng = np.random.default_rng([seed, repetition])
    dealt = np.concatenate([rng.permutation(np.flatnonzero(labels == c)) for c in np.unique(labels)])
    fold = np.empty(len(labels), int)
    fold[dealt] = np.arange(len(labels)) % k
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]


def _column(attribute: Mapping[str, Any], texts: Sequence[str]) -> pa.Array:
    if attribute["type"] == "numeric":
        return pa.array([float(text) for text in texts])
    return pa.array(texts).dictionary_encode()


def _rows(document: Mapping[str, Any]) -> Iterator[list[str]]:
    """The fields of every row, the quirks of the files undone."""
    for key in ("file", "test_file"):
        if key not in document:
            continue
        lines = find(document, key).splitlines()
        test = key == "test_file"
        skip = document.get("test_file_skip_lines", 0) if test else int(document["header"])
        suffix = document.get("test_file_label_suffix", "") if test else ""
        for line in lines[skip:]:
            if line.strip():
                row = line.removesuffix(suffix).split(document["separator"])
                yield [field.strip() for field in row] if document["strip_whitespace"] else row


def find(document: Mapping[str, Any], key: str = "file") -> str:
    """The text of a file of a data set, checked."""
    name = document[key]
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bocage" / "data"
    places = [os.environ.get("BOCAGE_DATA"), ROOT.parent / "shared" / "data", cache]
    for place in places:
        if place and (path := Path(place) / name).is_file():
            return _checked(path.read_bytes(), name)
    content = _download(document, name)
    text = _checked(content, name)
    cache.mkdir(parents=True, exist_ok=True)
    (cache / name).write_bytes(content)
    return text


def address(document: Mapping[str, Any]) -> str:
    """Where UCI keeps the archive of a data set: derived from the page that the schema names."""
    page = re.search(r"https://archive\.ics\.uci\.edu/dataset/[^,\s]+", document["source"])
    if page is None:
        raise ValueError(f"the source of {document['name']!r} names no page of the UCI repository.")
    site = os.environ.get("BOCAGE_UCI", "https://archive.ics.uci.edu")
    return page[0].replace("https://archive.ics.uci.edu/dataset", f"{site}/static/public") + ".zip"


def _download(document: Mapping[str, Any], name: str) -> bytes:
    """One file of the archive, unpacked and packed again as we keep it."""
    plain = name.removesuffix(".gz")
    with urlopen(address(document), timeout=60) as answer:  # noqa: S310 - a fixed https address
        archive = zipfile.ZipFile(io.BytesIO(answer.read()))
    for member in archive.namelist():
        found = Path(member).name
        if found in {plain, f"{plain}.Z"}:
            content = archive.read(member)
            if found.endswith(".Z"):  # Unix compress, which gzip can read and Python cannot
                content = subprocess.run(["gzip", "-dc"], input=content, capture_output=True, check=True).stdout
            return gzip.compress(content, mtime=0) if name.endswith(".gz") else content
    raise FileNotFoundError(f"{plain} is not in {address(document)}.")


def _checked(content: bytes, name: str) -> str:
    """The text, if its lines are those of the file that the experiments were made with."""
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    expected = json.loads((SCHEMAS / "lines.json").read_text(encoding="utf-8"))[name]
    if checksum(text) != expected:
        raise ValueError(f"{name} is not the file that is expected: its checksum differs.")
    return text


def checksum(text: str) -> str:
    """SHA-256 of the lines in sorted order, blank lines left out."""
    lines = sorted(line.rstrip() for line in text.splitlines() if line.strip())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
