"""Whatever does not fit is refused with its name and the reason, and nothing is merged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bocage.errors import PartyError
from bocage.parties import Contribution, Signer, merge, plan_rows
from bocage.parties.documents import canonical
from bocage.schema import Categorical, Schema
from parties.owners import PATIENTS, column_plan, made, row_plan

KEY = Signer.new()


@pytest.fixture(scope="module")
def plan():
    return row_plan()


def signed_anew(contribution, signer, **changes):
    """What an owner with bad intentions can sign."""
    changed = replace(contribution, key=signer.public, **changes)
    return replace(changed, signature=signer.sign(changed.message()))


def refused(plan, contribution, reason, **options):
    """Refused also beside good ones, whether it comes first or last."""
    good = made(plan, "good")
    for given in ([contribution], [good, contribution], [contribution, good]):
        with pytest.raises(PartyError, match=reason):
            merge(plan, given, **options)


def test_a_good_contribution_is_merged(plan):
    forest = merge(plan, [made(plan, value=5)])
    assert [set(tree.counts[tree.is_leaf].ravel()) for tree in forest.trees] == [{5}] * 3


def test_no_contribution_makes_no_model(plan):
    with pytest.raises(PartyError, match="no contribution to merge"):
        merge(plan, [])


def test_a_contribution_to_another_plan_is_refused(plan):
    refused(plan, made(row_plan()), f"for another plan, [0-9a-f]{{64}}, not for {plan.hash}")


def test_another_version_of_the_schema_is_refused(plan):
    other = row_plan()
    newer = replace(other, schema=replace(PATIENTS, row_cap=2000))
    refused(plan, made(newer), "another schema, or another version")


def test_missing_and_extra_trees_are_refused(plan):
    whole = made(plan, signer=KEY)
    one = whole.shapes[0][0] * 2
    fewer = signed_anew(whole, KEY, shapes=whole.shapes[1:], values=whole.values[one:])
    refused(plan, fewer, "lacks trees: 2, and the plan has 3")
    values = np.concatenate([whole.values, np.zeros(2, np.int64)])
    more = signed_anew(whole, KEY, shapes=(*whole.shapes, (1, 2)), values=values)
    refused(plan, more, "has extra trees: 4, and the plan has 3")


def test_wrong_shapes_are_refused(plan):
    whole = made(plan, signer=KEY)
    first = whole.shapes[0][0]
    refused(
        plan,
        signed_anew(whole, KEY, shapes=((first * 2, 1), *whole.shapes[1:])),
        "do not have the leaves and labels",
    )


@pytest.mark.parametrize("count", [-(2**62), -1000, 2000, 2**42, 2**63 - 1])
def test_absurd_counts_are_refused(plan, count):
    # At epsilon 0.5 with three trees noise is below 360, and the table has at most 1,000 rows.
    values = made(plan).values.copy()
    values[3] = count
    refused(plan, signed_anew(made(plan), KEY, values=values), "absurd: beyond 1000 rows")


def test_counts_that_are_absurd_only_together_are_refused():
    plan = row_plan(epsilon=5000, trees=1, height=1)
    leaves = plan.shares[0].leaves[0]
    absurd = made(plan, value=1000 // leaves + 1)
    refused(plan, absurd, "absurd: together beyond 1000 rows")


def test_a_contribution_that_cost_less_than_the_plan_needs_is_refused(plan):
    cheap = signed_anew(made(plan), KEY, epsilon="0.4")
    refused(plan, cheap, r"cost epsilon=0\.4, but the plan needs 0\.5")


def test_a_party_contributes_once(plan):
    with pytest.raises(PartyError, match=r"contribution of 'north': the party 'north' is in"):
        merge(plan, [made(plan, "north"), made(plan, "south"), made(plan, "north")])


def test_a_key_contributes_once_under_whatever_name(plan):
    with pytest.raises(PartyError, match=f"the key '{KEY.public}' is in contribution of 'north'"):
        merge(plan, [made(plan, "north", KEY), made(plan, "south", KEY)])


def test_a_replayed_nonce_is_refused(plan):
    first, second = made(plan, "north"), made(plan, "south")
    replayed = signed_anew(second, KEY, nonce=first.nonce)
    with pytest.raises(PartyError, match=f"the nonce '{first.nonce}' is in"):
        merge(plan, [first, replayed])


def test_the_same_file_twice_is_refused(plan, tmp_path):
    for name in ("a.json", "b.parquet"):
        made(plan, signer=KEY).save(tmp_path / name)
    with pytest.raises(PartyError, match=r"b\.parquet: the party 'north' is in .*a\.json already"):
        merge(plan, [tmp_path / "a.json", tmp_path / "b.parquet"])


def test_a_forged_signature_is_refused(plan):
    forged = replace(made(plan), key=KEY.public)
    refused(plan, forged, "the key of 'north' did not sign it")


def test_keys_that_are_not_trusted_are_refused(plan, tmp_path):
    trusted, stranger = made(plan, "north", KEY), made(plan, "south")
    (tmp_path / "keys.txt").write_text(f"# who may contribute\n{KEY.public}  # north\n\n")
    for trust in ([KEY.public], [tmp_path / "keys.txt"]):
        forest = merge(plan, [trusted], trust=trust)
        assert "compared with a list of trusted ones" in forest.certificate.notes[-1]
        with pytest.raises(PartyError, match="of 'south' is not among the trusted"):
            merge(plan, [trusted, stranger], trust=trust)


def test_a_party_that_the_plan_does_not_name_is_refused():
    plan = column_plan()
    stranger = signed_anew(made(plan, "town"), KEY, party="bank")
    with pytest.raises(PartyError, match=r"has no party 'bank'\. It has 'clinic', 'town'"):
        merge(plan, [stranger])


def test_the_share_of_another_party_is_refused():
    plan = column_plan()
    swapped = signed_anew(made(plan, "town"), KEY, party="clinic")
    with pytest.raises(PartyError, match="another schema"):
        merge(plan, [swapped])


CHANGES = {
    "format": "bocage.plan",
    "version": 2,
    "plan": "0" * 64,
    "schema": "0" * 64,
    "party": "south",
    "key": KEY.public,
    "epsilon": "0.6",
    "entry": 3,
    "nonce": "0" * 32,
    "shapes": [[1, 2]],
    "digest": "0" * 64,
    "signature": "0" * 128,
    "counts": [[1, 2]],
}
WRONG = [None, True, 1.5, -1, "", "x" * 64, [], {}, 10**400, "\u0000"]


def test_every_field_of_a_contribution_is_listed_here(plan):
    assert set(json.loads(made(plan).to_json())) == set(CHANGES)


@pytest.mark.parametrize("field", CHANGES)
def test_changing_any_field_is_noticed(plan, tmp_path, field):
    document = json.loads(made(plan).to_json())
    (tmp_path / "c.json").write_bytes(canonical({**document, field: CHANGES[field]}))
    with pytest.raises(PartyError, match=r"c\.json"):
        merge(plan, [tmp_path / "c.json"])


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("value", WRONG, ids=lambda v: repr(v)[:12])
def test_nonsense_in_any_field_is_refused(plan, tmp_path, field, value):
    document = json.loads(made(plan).to_json())
    with pytest.raises(PartyError):
        merge(plan, [_file(tmp_path, {**document, field: value})])


@pytest.mark.parametrize("field", CHANGES)
def test_a_lacking_or_an_unknown_field_is_refused(plan, tmp_path, field):
    document = json.loads(made(plan).to_json())
    with pytest.raises(PartyError):
        merge(plan, [_file(tmp_path, {k: v for k, v in document.items() if k != field})])
    with pytest.raises(PartyError):
        merge(plan, [_file(tmp_path, {**document, f"{field}2": 1})])


def _file(directory, document):
    path = directory / "c.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("wrong", [True, 1.5, "1", None, 2**63])
def test_a_count_that_is_no_whole_number_is_refused(plan, tmp_path, wrong):
    document = json.loads(made(plan, value=1).to_json())
    document["counts"][1][0] = wrong
    path = _file(tmp_path, document)
    for content in (path.read_bytes(), canonical(document)):  # laid out anew, and as we write it
        path.write_bytes(content)
        with pytest.raises(PartyError, match=r"a count is a whole number|counts were changed"):
            merge(plan, [path])


@pytest.mark.parametrize("text", [b"", b"5,", b",5", b"5,,5", b"5-5", b"0x5", b'"5"', b"[5]", b"5\n5"])
def test_counts_that_are_no_list_are_refused(plan, tmp_path, text):
    content = made(plan).to_json()
    assert content.startswith(b'{"counts":[[5,5,')
    (tmp_path / "c.json").write_bytes(content.replace(b"[[5,5,", b"[[" + text + b","))
    with pytest.raises(PartyError, match=r"c\.json"):
        merge(plan, [tmp_path / "c.json"])


def test_one_digit_in_a_large_file_is_noticed(tmp_path):
    digits = tuple("0123456789")
    wide = Schema("wide", tuple(Categorical(c, digits) for c in "abcd"), Categorical("e", ("0", "1")))
    plan = plan_rows(wide, 1, trees=3, height=4)
    path = tmp_path / "c.json"
    made(plan).save(path)
    content = path.read_bytes()
    assert len(content) > 2**16
    assert merge(plan, [path]).trees[2].counts.sum() == 5 * 20_000
    path.write_bytes(content[:60_000] + content[60_000:].replace(b",5,", b",6,", 1))
    with pytest.raises(PartyError, match="counts were changed"):
        merge(plan, [path])
    path.write_bytes(content.replace(b",5,", b",5,5,", 1))
    with pytest.raises(PartyError, match="not as many as its shapes"):
        merge(plan, [path])


@pytest.mark.parametrize("name", ["c.json", "c.parquet"])
def test_a_file_cut_anywhere_is_refused(plan, tmp_path, name):
    path = tmp_path / name
    made(plan).save(path)
    content = path.read_bytes()
    for length in {0, 1, 3, 4, 5, 12, *range(20, len(content), 97), len(content) - 1}:
        path.write_bytes(content[:length])
        with pytest.raises(PartyError, match=name):
            merge(plan, [path])


def test_a_changed_byte_anywhere_is_refused_or_means_the_same(plan, tmp_path):
    """Parquet has room for bytes that mean nothing; counts and header are what was signed."""
    path = tmp_path / "c.parquet"
    original = made(plan)
    original.save(path)
    content = path.read_bytes()
    for at in range(4, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :])
        try:
            read = Contribution.load(path)
        except PartyError:
            continue
        assert not read.is_authentic() or read.to_json() == original.to_json()


def test_a_missing_file_is_refused(plan, tmp_path):
    with pytest.raises(PartyError, match=r"none\.json cannot be read: No such file"):
        merge(plan, [tmp_path / "none.json"])


def test_other_files_are_refused(plan, tmp_path):
    for content in (
        b"",
        b"[]",
        b"{}",
        b'{"format": NaN}',
        b'{"a": 1, "a": 1}',
        b"\xff\xfe",
        b"[" * 9999,
    ):
        (tmp_path / "c.json").write_bytes(content)
        with pytest.raises(PartyError, match=r"c\.json"):
            merge(plan, [tmp_path / "c.json"])


def test_a_contribution_as_a_plan_and_a_plan_as_a_contribution_are_refused(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    made(plan).save(tmp_path / "c.json")
    with pytest.raises(PartyError, match=r'no "bocage\.contribution" file'):
        Contribution.load(tmp_path / "plan.json")
    with pytest.raises(PartyError, match=r'no "bocage\.plan" file'):
        type(plan).load(tmp_path / "c.json")
