from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import parquet

from bocage.errors import PartyError
from bocage.parties import Contribution, Signer
from bocage.parties.parquet import to_parquet
from parties.owners import made, row_plan

PLAN = row_plan()
SIZES = PLAN.shares[0].leaves
KEY = Signer.new()
INT64 = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(min_size=1, max_size=20).filter(str.isprintable)


@given(
    values=hnp.arrays(np.int64, sum(SIZES) * 2, elements=INT64),
    party=NAMES,
    entry=st.none() | st.integers(0, 2**63 - 1),
)
def test_a_contribution_reads_back_from_both_kinds_of_file(values, party, entry):
    ends = np.cumsum([leaves * 2 for leaves in SIZES])[:-1]
    counts = [one.reshape(-1, 2) for one in np.split(values, ends)]
    written = Contribution.signed(PLAN, party, counts, KEY, entry)
    pretty = json.dumps(json.loads(written.to_json()), indent=1).encode()
    for content in (written.to_json(), pretty, to_parquet(written)):
        read = Contribution.from_bytes(content)
        assert read.header() == written.header()
        assert np.array_equal(read.values, values)
        assert read.is_authentic()
        assert read.to_json() == written.to_json()
        assert [one.tolist() for one in read.counts()] == [one.tolist() for one in counts]


def test_a_contribution_cannot_be_changed_from_outside():
    counts = [np.zeros((leaves, 2), np.int64) for leaves in SIZES]
    contribution = Contribution.signed(PLAN, "north", counts, KEY)
    counts[0][:] = 7
    assert not contribution.values.any()
    with pytest.raises(ValueError, match="read-only"):
        contribution.values[0] = 1


def test_no_two_contributions_have_the_same_nonce():
    assert made(PLAN, signer=KEY).nonce != made(PLAN, signer=KEY).nonce


def test_the_ending_of_the_name_chooses_the_format(tmp_path):
    for name, start in (("a.json", b"{"), ("a.parquet", b"PAR1"), ("a.txt", b"{")):
        made(PLAN).save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
        assert Contribution.load(tmp_path / name).is_authentic()


def test_saving_where_nothing_can_be_written_leaves_nothing(tmp_path):
    with pytest.raises(PartyError, match="cannot be written"):
        made(PLAN).save(tmp_path / "nowhere" / "c.json")
    (tmp_path / "c.json").mkdir()
    with pytest.raises(PartyError, match="cannot be written"):
        made(PLAN).save(tmp_path / "c.json")
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]


def test_foreign_and_compressed_parquet_files_are_refused(tmp_path):
    path = tmp_path / "c.parquet"
    parquet.write_table(pa.table({"count": [1, 2]}), path)
    with pytest.raises(PartyError, match="no contribution"):
        Contribution.load(path)
    made(PLAN).save(path)
    table = parquet.read_table(path)
    parquet.write_table(table, path, compression="gzip")
    with pytest.raises(PartyError, match="without compression"):
        Contribution.load(path)
    parquet.write_table(table.slice(1), path, compression="none")
    with pytest.raises(PartyError, match="not as many as its shapes"):
        Contribution.load(path)
