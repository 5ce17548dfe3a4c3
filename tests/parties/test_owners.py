"""The whole way with three owners: the merged model is the one of the pooled table."""

from __future__ import annotations

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet

from bocage import protect, study
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, LearnerError, PartyError
from bocage.learners import RandomTrees
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.model import Certificate, load
from bocage.parties import Contribution, Signer, contribute, merge
from bocage.private import Ensemble
from parties.owners import NAMES, PATIENTS, column_plan, opened, row_plan, rows
from private.noises import RecordingNoise
from private.tables import table as pooled_table


@pytest.fixture
def north():
    return rows(0)


@pytest.fixture
def south(tmp_path):
    parquet.write_table(pa.table(rows(90)), tmp_path / "south.parquet")
    return str(tmp_path / "south.parquet")


@pytest.fixture
def west(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS west")
        connection.execute("CREATE TABLE west (smokes text, home text, age int, ill text)")
        with connection.cursor() as cursor:
            lines = list(zip(*rows(180).values(), strict=True))
            cursor.executemany("INSERT INTO west VALUES (%s, %s, %s, %s)", lines)
    return f"{postgres_url}#west"


def pooled_counts(plan, share, schema=PATIENTS):
    """What the learner would count in one table with all rows."""
    level = pooled_table(rows(0, 270), schema).reserve(share.epsilon, "pooled")
    cells = tuple(tree.cells(schema) for tree in share.trees)
    return level.ask(Ensemble(cells, "ill", share.epsilon))


@pytest.mark.postgres
def test_three_owners_on_three_engines_make_the_model_of_the_pooled_table(tmp_path, north, south, west):
    plan = row_plan()
    files = []
    for name, source, ending in zip(NAMES, (north, south, west), ("json", "parquet", "json"), strict=True):
        with opened(source, PATIENTS, tmp_path / f"{name}.ledger") as table:
            contribution = contribute(plan, table, name, Signer.new())
            assert table.spent() == Epsilon.of("0.5")
        files.append(tmp_path / f"{name}.{ending}")
        contribution.save(files[-1])
    merged = merge(plan, files)

    share = plan.shares[0]
    expected = pooled_counts(plan, share)
    for tree, structure, counts in zip(merged.trees, share.trees, expected, strict=True):
        pooled = structure.tree(PATIENTS, counts).freeze(merged.certificate)
        for array in ("column", "threshold", "label", "counts", "has_counts"):
            assert np.array_equal(getattr(tree, array), getattr(pooled, array))
        assert tree.counts.sum() == 270

    merged.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.certificate == merged.certificate
    assert np.array_equal(again.predict(rows(0, 50)), merged.predict(rows(0, 50)))


def test_any_subset_can_be_merged(tmp_path):
    plan = row_plan()
    contributions = []
    for i, name in enumerate(NAMES):
        with opened(rows(90 * i), PATIENTS, tmp_path / f"{name}.ledger") as table:
            contributions.append(contribute(plan, table, name, Signer.new()))
    two = merge(plan, contributions[1:])
    assert [tree.counts.sum() for tree in two.trees] == [180, 180, 180]
    assert [batch.name for batch in two.certificate.batches] == ["south", "west"]


def test_the_certificate_of_owners_of_rows_states_price_owners_and_variance(tmp_path):
    plan = row_plan(epsilon="0.5", trees=3)
    contributions = []
    for i, name in enumerate(NAMES[:2]):
        with opened(rows(90 * i), PATIENTS, tmp_path / f"{name}.ledger") as table:
            contributions.append(contribute(plan, table, name, Signer.new()))
    certificate = merge(plan, contributions).certificate
    assert certificate.epsilon == "0.5"
    assert [(b.name, b.epsilon, b.entry) for b in certificate.batches] == [
        ("north", "0.5", 4),
        ("south", "0.5", 4),
    ]
    words = certificate.statement()
    assert "merged from 2 contributions" in words
    assert "from the tables 'patients' of 2 owners" in words
    assert "By the owners' declaration no person is in two of these tables:" in words
    assert "table of 'south': epsilon 0.5, entry 4 of their ledger" in words
    assert "no ledger knows the charges of all" in words
    assert "The table's ledger" not in words
    assert certificate.entry is None
    assert Certificate.from_dict(certificate.to_dict()) == certificate
    assert "Every person is in the table of one owner and pays epsilon = 0.5" in words
    assert "a variance of 144" in words  # 2 contributions x 2 x (3 trees / 0.5)**2
    assert "not compared with a list" in words


def test_the_noise_has_the_scale_of_trees_over_epsilon(tmp_path):
    noise, plan = RecordingNoise(), row_plan(epsilon="0.25", trees=2)
    with opened(rows(), PATIENTS, tmp_path / "ledger", noise=noise) as table:
        contribution = contribute(plan, table, "north", Signer.new())
    assert noise.scales == [(8, contribution.values.size)]


def test_asked_again_the_very_same_contribution_comes_back_free(tmp_path):
    plan, signer = row_plan(), Signer.new()
    with opened(rows(), PATIENTS, tmp_path / "ledger", noise=SystemNoise()) as table:
        first = contribute(plan, table, "north", signer)
    with opened(rows(), PATIENTS, tmp_path / "ledger", noise=SystemNoise()) as table:
        again = contribute(plan, table, "north", signer)
        assert table.spent() == plan.epsilon
        other = contribute(row_plan(), table, "north", signer)  # another plan is another release
        assert table.spent() == plan.epsilon * 2
    assert again.to_json() == first.to_json()
    assert other.nonce != first.nonce


def test_a_second_name_or_key_for_the_same_table_is_refused(tmp_path):
    plan, signer = row_plan(), Signer.new()
    with opened(rows(), PATIENTS, tmp_path / "ledger") as table:
        contribute(plan, table, "north", signer)
        with pytest.raises(PartyError, match="contributed to the plan already, as 'north'"):
            contribute(plan, table, "south", signer)
        with pytest.raises(PartyError, match="contributed to the plan already"):
            contribute(plan, table, "north", Signer.new())
        assert table.spent() == plan.epsilon


def test_a_budget_below_what_the_plan_needs_is_refused_before_a_row_is_read(tmp_path):
    with opened(rows(), PATIENTS, tmp_path / "ledger", budget="0.4") as table:
        with pytest.raises(BudgetExceeded, match=r"epsilon=0\.5 was asked"):
            contribute(row_plan(), table, "north", Signer.new())
        assert table.spent() == Epsilon(0)


def test_a_table_with_another_schema_or_adjacency_is_refused_uncharged(tmp_path):
    from dataclasses import replace

    plan = row_plan()
    with opened(rows(), replace(PATIENTS, row_cap=999), tmp_path / "a") as table:
        with pytest.raises(PartyError, match="does not have the schema of the plan"):
            contribute(plan, table, "north", Signer.new())
        assert table.spent() == Epsilon(0)
    with opened(rows(), PATIENTS, tmp_path / "b", adjacency=Adjacency.REPLACE) as table:
        with pytest.raises(PartyError, match="for the adjacency add_remove"):
            contribute(plan, table, "north", Signer.new())
        assert table.spent() == Epsilon(0)


def test_a_dry_run_contributes_nothing(tmp_path):
    with (
        opened(rows(), PATIENTS, tmp_path / "ledger") as table,
        table.dry_run() as made_up,
        pytest.raises(PartyError, match="dry run"),
    ):
        contribute(row_plan(), made_up, "north", Signer.new())


def test_owners_of_columns_vote_together_and_a_person_pays_the_sum(tmp_path):
    plan = column_plan(epsilon=1)
    joint, contributions = rows(), []
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        held = pa.table({name: joint[name] for name in ("smokes", "age", "ill")})
        database.register("held", held)
        database.execute("CREATE TABLE patients AS SELECT * FROM held")
    sources = {
        "clinic": f"{tmp_path}/clinic.duckdb#patients",
        "town": {n: joint[n] for n in ("home", "ill")},
    }
    for party, source in sources.items():
        schema = plan.schema_of(plan.share_of(party))
        with opened(source, schema, tmp_path / f"{party}.ledger") as table:
            contributions.append(contribute(plan, table, party, Signer.new()))
            assert table.spent() == Epsilon.of("0.5")
    forest = merge(plan, contributions)
    assert len(forest) == 4
    assert [set(tree.columns) <= {"smokes", "age"} for tree in forest.trees] == [
        True,
        True,
        False,
        False,
    ]
    assert all(tree.columns == ("home",) for tree in forest.trees[2:])
    for share, trees in zip(plan.shares, (forest.trees[:2], forest.trees[2:]), strict=True):
        level = pooled_table(joint, PATIENTS).reserve(1, "joint")
        cells = tuple(tree.cells(PATIENTS) for tree in share.trees)
        expected = level.ask(Ensemble(cells, "ill", share.epsilon))
        for tree, counts in zip(trees, expected, strict=True):
            assert np.array_equal(tree.counts[tree.is_leaf], counts)
    certificate = forest.certificate
    assert certificate.epsilon == "1"  # 0.5 + 0.5: the sum, and what was asked
    assert [line.epsilon for line in certificate.plan] == ["0.5", "0.5"]
    assert "add up to epsilon = 1." in certificate.statement()
    assert "that is wrong" in certificate.statement()
    assert len(forest.predict(rows(0, 5))) == 5


def test_some_owners_of_columns_cost_their_own_part(tmp_path):
    plan = column_plan(epsilon=1)
    held = {name: rows()[name] for name in ("home", "ill")}
    with opened(held, plan.schema_of(plan.share_of("town")), tmp_path / "ledger") as table:
        forest = merge(plan, [contribute(plan, table, "town", Signer.new())])
    assert forest.certificate.epsilon == "0.5"
    assert "has paid epsilon = 1 for the whole plan" in forest.certificate.statement()
    assert forest.columns == ("home",)


def test_a_contribution_holds_noisy_counts_and_no_row(tmp_path):
    plan = row_plan()
    with opened(rows(), PATIENTS, tmp_path / "ledger", noise=SystemNoise()) as table:
        contribution = contribute(plan, table, "north", Signer.new())
    contribution.save(tmp_path / "north.json")
    read = Contribution.load(tmp_path / "north.json")
    assert read.is_authentic()
    assert read.entry == 4  # created, table and analyst opened, charged
    assert np.array_equal(read.values, contribution.values)


def test_rows_that_came_later_are_a_batch_with_a_contribution_of_its_own(tmp_path):
    plan = row_plan(epsilon="0.5")
    made = []
    for i, (name, batch) in enumerate((("north", "2026-01"), ("north, later", "2026-02"))):
        ledger = tmp_path / "ledger"
        with protect(rows(90 * i), PATIENTS, ledger=ledger, cap=2, create=True, batch=batch) as own:
            table = own.analyst("parties", "0.5")
            made.append(contribute(plan, table, name, Signer.new()))
            assert own.spent() == Epsilon.of("0.5")  # batches cost their maximum
    forest = merge(plan, made)
    assert [batch.entry for batch in forest.certificate.batches] == [one.entry for one in made]
    assert forest.certificate.epsilon == "0.5"


def test_a_merged_forest_says_how_to_add_rows_to_it(tmp_path):
    for plan, owner, way in (
        (row_plan(), "north", "contribute them to the same plan"),
        (column_plan(), "town", "draw a new plan"),
    ):
        share = plan.share_of(owner)
        counts = [np.full((leaves, 2), 5) for leaves in share.leaves]
        forest = merge(plan, [Contribution.signed(plan, owner, counts, Signer.new(), 2)])
        with pytest.raises(LearnerError, match="merged from the contributions") as refused:
            RandomTrees().update(forest, study(rows(), PATIENTS, batch="new"), 1)
        assert way in str(refused.value)
        assert "Nothing was charged" in str(refused.value)
