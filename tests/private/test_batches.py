"""Batches: updates of a forest, and what they cost in a real ledger."""

from __future__ import annotations

import json
from math import isclose, sqrt

import numpy as np
import pytest

from bocage import protect, study
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, LearnerError, ModelError, PlanError
from bocage.learners import DPDF, RandomTrees, noise_after
from bocage.learners.papers.structure import Structure
from bocage.model import Batch, Certificate, PlanLine, load, save
from bocage.schema import Categorical, Schema
from private.tables import PEOPLE, ROWS, TENNIS, WEATHER, table

LEARNER = RandomTrees(trees=4, height=2)


def rows_of(*chosen):
    return {name: [values[i] for i in chosen] for name, values in WEATHER.items()}


JANUARY, FEBRUARY, MARCH = rows_of(*range(5)), rows_of(*range(5, 9)), rows_of(*range(9, 14))


@pytest.fixture
def opened(tmp_path):
    """Open rows as a batch (or none), for an analyst with a budget of 1, in one ledger."""
    tables = []

    def opening(rows, batch):
        table_ = protect(
            rows,
            TENNIS,
            ledger=tmp_path / "ledger",
            cap=5,
            create=True,
            batch=batch,
        )
        tables.append(table_)
        return table_.analyst("ann", 1), table_

    yield opening
    for table_ in tables:
        table_.close()


def test_building_on_one_batch_and_updating_with_others_costs_the_maximum(opened):
    first, owner = opened(JANUARY, "2026-01")
    forest = LEARNER.fit(first, "0.5")
    assert owner.spent() == Epsilon.of("0.5")
    second, owner = opened(FEBRUARY, "2026-02")
    forest = LEARNER.update(forest, second, "0.5")
    assert owner.spent() == Epsilon.of("0.5")
    third, owner = opened(MARCH, "2026-03")
    forest = LEARNER.update(forest, third, "0.7")
    assert owner.spent() == Epsilon.of("0.7")
    certificate = forest.certificate
    assert certificate.epsilon == "0.7"
    assert [b.name for b in certificate.batches] == ["2026-01", "2026-02", "2026-03"]
    assert [b.epsilon for b in certificate.batches] == ["0.5", "0.5", "0.7"]
    entries = [b.entry for b in certificate.batches]
    assert entries == sorted(set(entries))
    assert certificate.entry == entries[-1]
    said = certificate.statement()
    assert f"batch '2026-02': epsilon 0.5, ledger entry {entries[1]}" in said
    assert "no person is in two" in said
    assert "pays the sum" in said
    assert "charged for every batch, by the entries above" in said


def test_rebuilding_from_all_rows_is_a_new_release_and_adds_to_every_batch(opened):
    forest = LEARNER.fit(opened(JANUARY, "2026-01")[0], "0.5")
    LEARNER.update(forest, opened(FEBRUARY, "2026-02")[0], "0.5")
    whole, owner = opened(WEATHER, None)
    rebuilt = LEARNER.fit(whole, "0.4")
    assert owner.spent() == Epsilon.of("0.9")
    assert rebuilt.certificate.batches == ()
    with pytest.raises(BudgetExceeded):
        LEARNER.fit(whole, "0.4")
    # A batch that has spent less than the maximum may still catch up; then nobody may go on.
    third, owner = opened(MARCH, "2026-03")
    LEARNER.fit(third, "0.6")
    assert owner.spent() == Epsilon.of(1)
    with pytest.raises(BudgetExceeded):
        LEARNER.fit(third, "0.000000001")


def test_the_same_batch_counted_twice_in_new_forests_pays_twice(opened):
    """So a person who is in one batch, and asked about twice, has the cost of both."""
    first, owner = opened(JANUARY, "2026-01")
    LEARNER.fit(first, "0.3")
    LEARNER.fit(first, "0.3")
    assert owner.spent() == Epsilon.of("0.6")


def test_a_person_in_two_batches_loses_more_than_the_ledger_knows():
    """Why the owner's declaration matters: both batches move, so that the losses add up."""
    without = [JANUARY, FEBRUARY]
    person = rows_of(13)
    both = [{k: v + person[k] for k, v in batch.items()} for batch in without]
    forest = LEARNER.fit(silent(JANUARY, "a"), 1)
    moved = 0
    for rows, more in zip(without, both, strict=True):
        before, after = (LEARNER.update(forest, silent(r, "b"), 1).trees for r in (rows, more))
        moved += sum(int(np.abs(x.counts - y.counts).sum()) for x, y in zip(before, after, strict=True))
    assert moved == 2 * len(forest)  # twice the sensitivity that the noise is made for


def silent(rows, batch, schema=TENNIS):
    made = table(rows, schema)
    object.__setattr__(made._executor.terms, "batch", batch)
    return made


def test_without_noise_an_updated_forest_counts_all_rows_in_the_same_structures():
    forest = LEARNER.fit(silent(JANUARY, "a"), 1)
    updated = LEARNER.update(LEARNER.update(forest, silent(FEBRUARY, "b"), 1), silent(MARCH, "c"), 1)
    codes = updated.encode(WEATHER)
    labels = np.array([TENNIS.label.index[v] for v in WEATHER["play"]])
    for old, new in zip(forest.trees, updated.trees, strict=True):
        assert Structure.of(old) == Structure.of(new)
        by_hand = np.zeros((len(new), 2), int)
        np.add.at(by_hand, (new.apply_codes(codes), labels), 1)
        assert (new.counts[new.is_leaf] == by_hand[new.is_leaf]).all()
        assert old.counts[old.is_leaf].sum() == 5  # the first forest stays as it was


def test_a_forest_of_parts_is_updated_part_by_part():
    learner = RandomTrees(parts="outlook", height=1)
    forest = learner.fit(silent(JANUARY, "a"), 1)
    updated = learner.update(forest, silent(FEBRUARY, "b"), 1)
    assert [int(t.counts[t.is_leaf].sum()) for t in forest.trees] == [2, 1, 2]
    assert [int(t.counts[t.is_leaf].sum()) for t in updated.trees] == [4, 2, 3]
    assert updated.certificate.batches[1].deviation == sqrt(2)
    with pytest.raises(LearnerError, match=r"not grown with parts=None: .*parts=outlook"):
        LEARNER.update(forest, silent(MARCH, "c"), 1)


def test_updates_that_do_not_fit_are_refused_and_cost_nothing(opened):
    first, owner = opened(JANUARY, "2026-01")
    forest = LEARNER.fit(first, "0.5")
    second, _ = opened(FEBRUARY, "2026-02")
    whole, _ = opened(MARCH, None)
    unbatched = LEARNER.fit(study(WEATHER, TENNIS), 1)
    other = DPDF(trees=1, depth=1).fit(study(WEATHER, TENNIS, batch="x"), 1)
    people = LEARNER.fit(study(ROWS, PEOPLE, batch="x"), 1)
    replacing = study(FEBRUARY, TENNIS, batch="2026-02", adjacency="replace")
    spent = owner.spent()
    for model, rows, epsilon, said in (
        (forest, first, 1, "'2026-01' is in the forest already"),
        (forest, whole, 1, "not declared a batch"),
        (unbatched, second, 1, "not declared a batch, so that anybody"),
        (other, second, 1, "made by dpdf"),
        (people, second, 1, "another schema"),
        (forest, replacing, 1, "neighbors"),
    ):
        with pytest.raises(LearnerError, match=said):
            LEARNER.update(model, rows, epsilon)
    assert owner.spent() == spent
    with pytest.raises(BudgetExceeded):
        LEARNER.update(forest, second, "1.1")
    assert owner.spent() == spent


def test_the_variances_of_the_batches_add_up():
    forest = LEARNER.fit(study(JANUARY, TENNIS, batch="a"), 1)
    assert isclose(noise_after(forest).deviation, 4 * sqrt(2))
    for name in "bcd":
        forest = LEARNER.update(forest, study(FEBRUARY, TENNIS, batch=name), "0.5")
    noise = noise_after(forest)
    assert noise.batches == 4
    assert isclose(noise.deviation, sqrt(2 * 4**2 + 3 * 2 * 8**2))
    assert isclose(noise.variance, 2 * 4**2 + 3 * 2 * 8**2)
    assert isclose(noise.rebuilt, 4 * sqrt(2))
    with pytest.raises(LearnerError, match="not made from batches"):
        noise_after(LEARNER.fit(study(JANUARY, TENNIS), 1))


def test_the_advice_is_to_rebuild_where_that_lifts_counts_out_of_the_noise():
    # One split in two, two labels: 160 equal rows are 40 a count; one batch has noise 14, ten 45.
    schema = Schema("coin", (Categorical("a", ("0", "1")),), label=Categorical("y", ("0", "1")))
    rows = {"a": list("0011") * 40, "y": list("0101") * 40}
    none = {"a": [], "y": []}
    learner = RandomTrees(trees=1, height=1)
    forest = learner.fit(silent(rows, "0", schema), "0.1")
    assert not noise_after(forest).rebuild
    assert "Go on" in noise_after(forest).advice
    for i in range(1, 10):
        forest = learner.update(forest, silent(none, str(i), schema), "0.1")
    noise = noise_after(forest)
    assert (noise.typical, noise.rebuild) == (40, True)
    assert "standard deviation of 44.7" in noise.advice
    assert "everybody pays for it again" in noise.advice
    small = learner.fit(silent(none, "0", schema), "0.1")
    small = learner.update(small, silent(none, "1", schema), "0.1")
    assert "would not help" in noise_after(small).advice


def test_a_certificate_with_batches_survives_a_file_and_one_without_is_as_before(tmp_path):
    forest = LEARNER.fit(study(JANUARY, TENNIS, batch="a"), 1)
    forest = LEARNER.update(forest, study(FEBRUARY, TENNIS, batch="b"), "0.5")
    save(forest, tmp_path / "forest.json")
    assert load(tmp_path / "forest.json").certificate == forest.certificate
    plain = LEARNER.fit(study(JANUARY, TENNIS), 1).certificate
    assert "batches" not in plain.to_dict()
    assert Certificate.from_dict(json.loads(json.dumps(plain.to_dict()))) == plain


def test_a_certificate_that_contradicts_its_batches_is_refused():
    line = PlanLine(0, "all", "none", "1")
    facts = ("rdt", "", "1", "add_remove", "t", "s", (line,))
    with pytest.raises(ModelError, match="most expensive batch"):
        Certificate(*facts, batches=(Batch("a", "2", 1.0),))
    with pytest.raises(ModelError, match="names a batch twice"):
        Certificate(*facts, batches=(Batch("a", "1", 1.0), Batch("a", "1", 1.0)))
    document = Certificate(*facts, batches=(Batch("a", "1", 1.0),)).to_dict()
    document["batches"][0]["deviation"] = float("inf")
    with pytest.raises(ModelError, match="deviation"):
        Certificate.from_dict(document)


@pytest.mark.parametrize("name", ["", "x" * 201, 7])
def test_a_batch_needs_a_name(name):
    with pytest.raises(PlanError, match="a batch is named by text"):
        study(ROWS, PEOPLE, batch=name)


def test_the_second_promise_is_that_of_the_batch_with_the_least_of_it(opened):
    """Each tree's leaves are a question; what settled the number of trees for one batch did not for others."""
    many, few = RandomTrees(trees=200, height=1), RandomTrees(trees=2)
    for first, settled in ((many, True), (few, False)):
        forest = first.fit(study(JANUARY, TENNIS, batch="a"), 1)
        assert forest.certificate.settled is settled
        both = first.update(forest, study(FEBRUARY, TENNIS, batch="b"), "1.5").certificate
        rhos = {tuple(line.within): line.concentrated for line in both.plan}
        assert both.relaxed(delta=1e-6).rho == max(rhos.values())
        assert both.settled is settled
        assert str(both.used) == both.epsilon == "1.5"
    assert both.relaxed(delta=1e-6).rho > forest.certificate.relaxed(delta=1e-6).rho


def test_the_certificate_of_an_update_lists_the_releases_of_all_batches():
    forest = RandomTrees(trees=2).fit(study(JANUARY, TENNIS, batch="a"), 1)
    kept = [line.question for line in forest.certificate.plan]
    assert "count" in kept
    for number, rows in enumerate((FEBRUARY, MARCH), 2):
        forest = LEARNER.update(forest, study(rows, TENNIS, batch=str(number)), "0.5")
    lines = forest.certificate.plan
    assert [line.question for line in lines if line.within == (1, 1)] == kept
    assert [line.within for line in lines if line.within != (1, 1)] == [(1, 2), (1, 3)]
    assert forest.certificate.epsilon == "1"
    assert "in part 1.3" in forest.certificate.statement()


def test_a_dry_run_of_an_update_says_which_rows_were_made_up(opened):
    real, _ = opened(JANUARY, "a")
    forest = LEARNER.fit(real, "0.5")
    other, _ = opened(FEBRUARY, "b")
    made_up = LEARNER.update(forest, other.dry_run(rows=9), "0.5").certificate
    assert made_up.notes == ("A dry run: the rows of batch 'b' were made up from the schema. No record was read.",)
