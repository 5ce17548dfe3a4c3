from __future__ import annotations

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.errors import ModelError
from bocage.model import Forest, Tree, TreeBuilder, from_dict, load, save, to_dict
from bocage.model.export.json import parse
from bocage.model.export.text import to_text
from bocage.plan.splits import alone
from bocage.schema import Categorical, Numeric
from models import any_models, certificate_of, models, schema_of

SCHEMA = schema_of(Categorical("c", ("x", "y")), Numeric("n", 0, 9, step=1))


def tree() -> Tree:
    builder = TreeBuilder(SCHEMA)
    low, high = builder.split(0, "n", 4)
    builder.counts(low, [3, -1])
    builder.label(high, 1)
    builder.total(high, 12)
    return builder.freeze(certificate_of(SCHEMA))


def names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


def document() -> dict:
    return json.loads(json.dumps(tree().to_dict()))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(model=models())
def test_a_model_survives_json(model):
    text = json.dumps(to_dict(model))
    twin = from_dict(parse(text.encode()))
    assert type(twin) is type(model)
    assert json.dumps(to_dict(twin)) == text
    assert twin.certificate == model.certificate


def test_a_file_is_written_and_read_whole(tmp_path):
    path = tmp_path / "tree.json"
    path.write_text("old")
    tree().save(path)
    assert Tree.load(path).to_dict() == tree().to_dict()
    assert load(str(path)).to_dict() == tree().to_dict()
    assert names(tmp_path) == ["tree.json"]
    with pytest.raises(ModelError, match="a Tree, not a Forest"):
        Forest.load(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "tree.json"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match="No space left"):
        save(tree(), path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["tree.json"]


def test_a_file_that_cannot_be_opened_is_a_model_error(tmp_path):
    with pytest.raises(ModelError, match="No such file"):
        load(tmp_path / "absent.json")
    with pytest.raises(ModelError, match="cannot be written"):
        save(tree(), tmp_path / "absent" / "tree.json")
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path)


class Trap:
    """Would leave a file behind if it were unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("trapped"),)


HOSTILE = {
    "empty": b"",
    "ten megabytes of brackets": b"[" * 10_000_000,
    "nested objects": b'{"a":' * 100_000,
    "a pickle": pickle.dumps(Trap()),
    "no text": b"\xff\xfe\x00",
    "NaN": b'{"format": NaN}',
    "infinity": b'{"format": "bocage.tree", "version": -Infinity}',
    "a long number": b'{"version": 1' + b"0" * 10_000 + b"}",
    "an odd exponent": b'{"version": 1e999999999999999999999}',
    "a key twice": b'{"format": 1, "format": "bocage.tree"}',
    "a list": b"[]",
    "a number": b"7",
    "another format": b'{"format": "sklearn"}',
    "a later version": b'{"format": "bocage.tree", "version": 3}',
    "no version": b'{"format": "bocage.tree", "version": true}',
    "nothing else": b'{"format": "bocage.tree", "version": 1}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_an_error_and_nothing_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.json"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(ModelError, match=r"model\.json"):
        load(path)
    assert names(tmp_path) == ["model.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"column": [0, -1, -1]},  # 'c' has two values, and no threshold 4
        {"column": [1, 1, -1]},
        {"column": [-2, -1, -1]},
        {"column": [1.0, -1, -1]},
        {"column": [True, -1, -1]},
        {"column": ["1", -1, -1]},
        {"column": [10**30, -1, -1]},
        {"column": []},
        {"column": None},
        {"threshold": [4, -1]},
        {"threshold": [4, -1, -1, -1]},
        {"threshold": [0, -1, -1]},
        {"threshold": [2**31 - 1, -1, -1]},
        {"label": [0, 0, 2]},
        {"label": [0, 0, -1]},
        {"label": [0, 0]},
        {"counts": [None, [3], None]},
        {"counts": [None, [3, 1.5], None]},
        {"counts": [None, [3, None], None]},
        {"counts": [None, [3, 2**60], None]},
        {"counts": [None, [3, True], None]},
        {"counts": [None, None]},
        {"counts": {}},
        {"total": [None, None, "12"]},
        {"total": [None, None, [12]]},
        {"schema": {}},
        {"schema": None},
        {"schema": {"name": "t", "attributes": []}},
        {"certificate": None},
        {"certificate": {}},
        {"extra": 1},
        {"trees": []},
        {"format": "bocage.forest"},
        {"format": ["bocage.tree"]},
    ],
)
def test_a_damaged_document_gives_no_model(change):
    with pytest.raises(ModelError):
        from_dict(document() | change)


def test_a_tree_deeper_than_the_limit_is_refused():
    changed = document()
    deep = 129
    changed["column"] = [1] + [-1, 1] * (deep - 1) + [-1, -1]
    nodes = len(changed["column"])
    changed["threshold"] = [4 if column >= 0 else -1 for column in changed["column"]]
    changed["label"], changed["counts"], changed["total"] = (
        [0] * nodes,
        [None] * nodes,
        [None] * nodes,
    )
    with pytest.raises(ModelError, match="128 levels deep"):
        from_dict(changed)


def test_a_certificate_of_another_schema_is_refused():
    changed = document()
    changed["certificate"]["schema"] = "0" * 64
    with pytest.raises(ModelError, match="another schema"):
        from_dict(changed)


def test_a_forest_keeps_the_certificates_of_its_trees():
    schema = tree().schema
    whole = certificate_of(schema, None)
    forest = Forest((tree(), tree()), "majority", whole)
    twin = Forest.from_dict(json.loads(json.dumps(forest.to_dict())))
    assert [t.certificate for t in twin.trees] == [tree().certificate] * 2
    same = Forest((tree(),), "majority", certificate_of(schema))
    assert same.to_dict()["trees"][0]["certificate"] is None
    for change in ({"voting": "x"}, {"voting": 1}, {"trees": []}, {"trees": [{}]}, {"trees": 1}):
        with pytest.raises(ModelError):
            from_dict(json.loads(json.dumps(forest.to_dict())) | change)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
junk = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from _places(part, (*path, key))


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_junk_anywhere_in_a_document_gives_a_model_or_a_model_error(data):
    changed = document()
    *path, last = data.draw(st.sampled_from([p for p in _places(changed) if p]))
    inside = changed
    for key in path:
        inside = inside[key]
    inside[last] = data.draw(junk)
    try:
        model = from_dict(changed)
    except ModelError:
        return
    assert model.predict({"n": [1.0], "c": ["x"]})[0] in model.label_attribute.values


def test_one_value_against_the_rest_needs_the_second_version_and_nothing_else_does():
    schema = schema_of(Categorical("job", ("farmer", "miller", "smith")))
    builder = TreeBuilder(schema)
    for node in builder.split(builder.root, "job", alone(1)):
        builder.counts(node, [node, 2])
    grown = builder.freeze(certificate_of(schema))
    written = to_dict(grown)
    assert written["version"] == 2
    assert from_dict(written).threshold.tolist() == [-3, -1, -1]
    with pytest.raises(ModelError, match="threshold"):
        from_dict({**written, "version": 1})
    with pytest.raises(ModelError, match="split from the rest"):
        from_dict({**written, "threshold": [-5, -1, -1]})
    assert to_dict(grown.pruned([]))["version"] == 1
    assert "job is miller" in to_text(grown)
    assert "job is not miller" in to_text(grown)


@settings(deadline=None, max_examples=30)
@given(model=any_models())
def test_a_list_of_releases_needs_the_fourth_version_and_nothing_else_does(model):
    released = tuple(replace(line, rho="0", within=(1, 2)) for line in model.certificate.plan)
    own = replace(model.certificate, plan=released, epsilon=None)
    written = to_dict(replace(model, certificate=own))
    assert written["version"] == 4
    assert from_dict(written).certificate == own
    assert to_dict(model)["version"] < 4
