"""Plans and contributions that are well written and mean too much: refused before the work."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.errors import PartyError
from bocage.model import to_dict
from bocage.parties import Contribution, PartyPlan, Signer, merge, plan_rows
from bocage.parties.documents import canonical
from bocage.parties.plan import MOST_COUNTS
from documents.test_hostile import assert_refused_cheaply
from parties.owners import PATIENTS, made, row_plan

KEY = Signer.new()


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "files").mkdir()
    plan = row_plan()
    plan.save(tmp_path / "plan.json")
    return plan


def zeros(plan, count, shapes):
    """Signed by whoever made it: only its size is wrong."""
    wide = replace(made(plan, signer=KEY), shapes=shapes, values=np.zeros(count, np.int64), signature="")
    return replace(wide, signature=KEY.sign(wide.message()))


def parquet(header, values, **options):
    named = {b"bocage": canonical(header)}
    schema = pa.schema([pa.field("count", pa.int64(), nullable=False)]).with_metadata(named)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table([pa.array(values)], schema=schema), sink, **options)
    return sink.getvalue().to_pybytes()


@pytest.mark.slow
def test_contributions_that_say_too_much_are_refused_cheaply(plan, tmp_path):
    files, good = tmp_path / "files", made(plan, signer=KEY)
    most = zeros(plan, MOST_COUNTS, ((MOST_COUNTS // 2, 2),))
    (files / "as many as may be").write_bytes(most.to_json())
    (files / "as many, in parquet").write_bytes(parquet(most.header(), most.values))
    many = np.zeros(2**25, np.int64)
    header = {**good.header(), "shapes": [[2**25, 1]]}
    bomb = parquet(header, many, compression="none")
    assert len(bomb) < 2**20
    (files / "a dictionary bomb").write_bytes(bomb)
    (files / "packed").write_bytes(parquet(header, many, compression="gzip"))
    (files / "row groups").write_bytes(parquet(header, many[: 2**16], compression="none", row_group_size=8))
    (files / "a long footer").write_bytes(parquet({**header, "party": "a" * 2**23}, many[:9]))
    (files / "zeros").write_bytes(b"PAR1" + bytes(2**24) + b"PAR1")
    (files / "footers").write_bytes(b"PAR1" + b"\x19\xfc" * 2**17 + b"\0\0\4\0PAR1")
    text = b'{"counts":[[' + b"0," * (2**24 - 2**11) + b'0]],"digest":'
    whole = good.to_json()
    rest = whole[whole.index(b']],"digest":') + len(b']],"digest":') :]
    (files / "more than its shapes").write_bytes(text + rest)
    wide = zeros(plan, 2, ((2**20, 2), (1, 1)))
    (files / "less than its shapes").write_bytes(canonical({**wide.header(), "counts": [[0] * 99_000]}))
    (files / "shapes").write_bytes(canonical({**good.header(), "counts": [], "shapes": [[1, 1]] * 10**6}))
    assert_refused_cheaply("contribution", files)


@pytest.mark.slow
def test_plans_that_say_too_much_are_refused_cheaply(plan, tmp_path):
    files, document = tmp_path / "files", json.loads(plan.to_json())

    def write(name, **changes):
        share = {**document["shares"][0], **changes}
        (files / name).write_bytes(canonical({**document, "shares": [share]}))

    chain = [["age", 50], None] * 180_000 + [None]
    write("a chain", trees=[chain])
    write("many chains", trees=[chain[:301]] * 1024)
    write("trees", trees=[[None]] * 10**6)
    write("wide", trees=[[["home", None]] * 100_000 + [None] * 200_001])
    write("many of them", trees=[[["smokes", None], None, None]] * 1025)
    write("columns", attributes=["age"] * 10**6)
    write("epsilon", epsilon="0." + "1" * 10**6)
    shares = [{**document["shares"][0], "party": f"p{i}"} for i in range(20_000)]
    (files / "shares").write_bytes(canonical({**document, "shares": shares}))
    columns = [{"name": f"c{i}", "type": "categorical", "values": list(map(str, range(2000)))} for i in range(300)]
    (files / "schema").write_bytes(canonical({**document, "schema": {**document["schema"], "attributes": columns}}))
    steps = {"name": "n", "type": "numeric", "lower": 0, "upper": 10**60, "step": 1}
    (files / "cells").write_bytes(canonical({**document, "schema": {**document["schema"], "attributes": [steps]}}))
    assert_refused_cheaply("plan", files)


@pytest.mark.slow
def test_models_that_say_too_much_are_refused_cheaply(plan, tmp_path):
    files, document = tmp_path / "files", to_dict(merge(plan, [made(plan)]))
    tree = document["trees"][0]
    nodes = len(tree["column"])

    def write(name, trees):
        (files / name).write_bytes(canonical({**document, "trees": trees}))

    write("the last is wrong", [tree] * 1000 + [{**tree, "label": [0] * (nodes - 1)}])
    write("too many", [tree] * 1025)
    for key in ("column", "threshold", "label", "total", "counts"):
        write(f"a long {key}", [{**tree, key: [0] * 1_300_000}])
    write("all long", [{key: [0] * 250_000 for key in tree} | {"certificate": None}])
    write("wide counts", [{**tree, "counts": [[0] * 1_000_000] * 1 + [None] * (nodes - 1)}])
    assert_refused_cheaply("model", files)


@pytest.mark.slow
def test_the_largest_plan_that_a_rule_chooses_is_read_back():
    """A million counts are what the rule allows itself: three values a split make most nodes."""
    attributes = tuple(replace(PATIENTS["home"], name=f"c{i}") for i in range(12))
    schema = replace(PATIENTS, attributes=attributes, row_cap=2**40)
    plan = plan_rows(schema, 1000, rows=10**9)
    assert 700_000 < 2 * sum(plan.shares[0].leaves) <= 2**20
    assert PartyPlan.from_json(plan.to_json()) == plan


def test_a_contribution_of_the_most_counts_is_read_back(tmp_path):
    """Counts of fifteen digits: as JSON just what a file may have."""
    values = np.full(MOST_COUNTS, 10**12 + 7)
    whole = replace(made(row_plan()), shapes=((MOST_COUNTS // 2, 2),), values=values)
    for name in ("c.json", "c.parquet"):
        whole.save(tmp_path / name)
        assert (Contribution.load(tmp_path / name).values == values).all()


def test_counts_are_not_read_where_the_header_does_not_fit(plan, monkeypatch, tmp_path):
    other = made(row_plan(), signer=KEY)
    for name in ("files/c.json", "files/c.parquet"):
        other.save(tmp_path / name)
    read = []
    monkeypatch.setattr("bocage.parties.counts.from_lists", read.append)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", read.append)
    for path in (tmp_path / "files").iterdir():
        with pytest.raises(PartyError, match="for another plan"):
            merge(plan, [path])
    assert read == []
