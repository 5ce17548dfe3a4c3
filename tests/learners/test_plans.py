"""Planned = charged = used: for every learner, schema, depth and budget."""

from __future__ import annotations

import tempfile
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon
from bocage.learners import (
    DPDF,
    DiffPC45,
    DiffPID3,
    PrivateID3,
    ReadableTree,
    Scorecard,
    SulqID3,
)
from bocage.mechanisms import Adjacency
from bocage.model import Forest
from bocage.private import ProtectedTable
from learners.spy import GREEDY, schemas, some_records, some_rows, spy_executor

CRITERIA = st.sampled_from(["max", "gini", "information_gain"])
SELECTIONS = st.sampled_from(["permute_and_flip", "exponential"])
DEPTHS = st.integers(1, 5)


@st.composite
def learners(draw, schema, *, printed):
    """A learner of any kind that fits the schema."""
    numeric = any(name.startswith("x") for name in schema.by_name)
    depth, selection = draw(DEPTHS), draw(SELECTIONS)
    kinds = [
        lambda: DiffPC45(
            depth=depth,
            criterion=draw(CRITERIA),
            selection=selection,
            points=draw(st.sampled_from(["joint", "separate"])) if printed else "joint",
            prune=False,
            printed=printed,
        )
    ]
    if not printed:
        rows = st.none() | st.integers(1, 10**4)
        kinds += [lambda: ReadableTree(draw(rows), scorecards=draw(st.booleans())), Scorecard]
    if not numeric:
        splits = sum(a.cells > 1 for a in schema.attributes)
        kinds += [
            lambda: DiffPID3(depth, draw(CRITERIA), selection, printed),
            lambda: SulqID3(depth, draw(st.sampled_from(["asked", "summed"])), printed),
        ]
        if not printed:
            kinds += [
                lambda: PrivateID3(draw(st.none() | DEPTHS)),
                lambda: DPDF(
                    draw(st.integers(1, splits)),
                    depth,
                    support=draw(st.integers(0, 5)),
                    selection=selection,
                ),
            ]
    return draw(st.sampled_from(kinds))()


@st.composite
def cases(draw, *, printed=False):
    schema = draw(schemas(numeric=draw(st.booleans())))
    learner = draw(learners(schema, printed=printed))
    # Large enough to be shared by all questions of the largest plan, up to next to no noise.
    epsilon = Epsilon(draw(st.integers(2000, 10**6) | st.integers(10**6, 10**13)))
    rows = some_rows(schema, draw(st.integers()), draw(st.integers(0, 40)))
    return schema, learner, epsilon, rows


def fit_on_a_ledger(schema, learner, epsilon, rows, **options):
    """A fit on a real ledger file: the executor that watched it, the entries, the model."""
    executor = spy_executor(schema, rows, **options)
    with tempfile.TemporaryDirectory() as folder:
        ledger = open_ledger(Path(folder) / "ledger.db", create=True)
        with ProtectedTable(executor, ledger, Epsilon.of(10**6)) as protected:
            model = learner.fit(protected.analyst("ann", 10**6), epsilon)
            charges = [e for e in ledger.entries() if e.action == "charge"]
            spent = protected.spent()
    return executor, charges, spent, model


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(case=cases(), silent=st.booleans(), adjacency=st.sampled_from(list(Adjacency)))
def test_every_path_uses_the_whole_budget_and_the_ledger_shows_it_once(case, silent, adjacency):
    schema, learner, epsilon, _ = case
    plan = learner.plan(schema, epsilon)
    assert Epsilon.total([step.epsilon for step in plan.steps]) == epsilon == plan.budget
    executor, charges, spent, model = fit_on_a_ledger(*case, silent=silent, adjacency=adjacency)
    assert [charge.epsilon for charge in charges] == [epsilon]
    assert spent == epsilon
    assert model.certificate.epsilon == str(epsilon)
    assert model.certificate.entry == charges[0].number
    for record in some_records(schema, 0):
        assert executor.used_by(record) == epsilon.fraction


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(case=cases(printed=True), silent=st.booleans())
def test_the_printed_variants_use_no_more_than_the_budget(case, silent):
    schema, learner, epsilon, _ = case
    assert Epsilon.total([s.epsilon for s in learner.plan(schema, epsilon).steps]) == epsilon
    executor, charges, _, _ = fit_on_a_ledger(*case, silent=silent)
    assert [charge.epsilon for charge in charges] == [epsilon]
    assert all(0 < executor.used_by(record) <= epsilon.fraction for record in some_records(schema, 0))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(), silent=st.booleans(), printed=st.booleans(), data=st.data())
def test_separate_split_points_use_no_more_than_the_budget(seed, silent, printed, data):
    schema = data.draw(schemas(numeric=True))
    learner = DiffPC45(data.draw(DEPTHS), points="separate", printed=printed)
    epsilon = Epsilon(data.draw(st.integers(2000, 10**13)))
    rows = some_rows(schema, seed, 30)
    executor, charges, _, _ = fit_on_a_ledger(schema, learner, epsilon, rows, silent=silent)
    assert [charge.epsilon for charge in charges] == [epsilon]
    assert all(0 < executor.used_by(record) <= epsilon.fraction for record in some_records(schema, 0))


def most_scans(learner, plan):
    """Questions of a level: those planned, and one about the leaves that ended there."""
    if isinstance(learner, ReadableTree | Scorecard):
        return 4 + 2 * 12  # two questions a level; a path of 12 splits has 4096 branches
    levels = 1 + max(step.level for step in plan.steps)
    trees = learner.trees if isinstance(learner, DPDF) else 1
    return len(plan.steps) + trees * levels


@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_a_level_is_one_scan_per_question_whatever_the_number_of_nodes(case):
    schema, learner, epsilon, _ = case
    executor, *_ = fit_on_a_ledger(*case, silent=True)
    assert executor.engine.scans <= len(executor.draws)
    assert executor.engine.scans <= most_scans(learner, learner.plan(schema, epsilon))


def test_the_number_of_scans_does_not_grow_with_the_tree():
    def scans(learner, schema, rows):
        executor, _, _, model = fit_on_a_ledger(schema, learner, Epsilon.of(1000), rows, silent=True)
        return executor.engine.scans, len(model)

    from bocage.schema import Categorical, Schema

    narrow, wide = (
        Schema(
            "t",
            tuple(Categorical(f"a{i}", tuple(map(str, range(k)))) for i in range(3)),
            label=Categorical("c", ("n", "y")),
        )
        for k in (2, 6)
    )
    few, small = scans(DiffPID3(2), narrow, some_rows(narrow, 1, 400))
    many, large = scans(DiffPID3(2), wide, some_rows(wide, 1, 400))
    # Of six questions, the count of the root and two choices: the rest follows from the choices.
    assert (few, small) == (3, 7)
    assert (many, large) == (3, 43)


@pytest.mark.parametrize("name", GREEDY)
def test_progress_rises_to_its_end(name):
    from private.tables import TENNIS, WEATHER, table

    seen = []
    GREEDY[name](depth=3).fit(table(WEATHER, TENNIS), 50, lambda *step: seen.append(step))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert len({of for _, of in seen}) == 1


def test_a_plan_that_does_not_add_up_cannot_be_made():
    from bocage.learners import Plan, Step

    with pytest.raises(AssertionError, match="add up"):
        Plan("x", Epsilon.of(1), (Step(0, "q", "m", Epsilon.of("0.5")),))


def test_a_forest_charges_once_for_all_its_trees():
    from private.tables import TENNIS, WEATHER

    executor, charges, spent, model = fit_on_a_ledger(TENNIS, DPDF(3, 3), Epsilon.of("0.9"), WEATHER)
    assert isinstance(model, Forest)
    assert [str(charge.epsilon) for charge in charges] == ["0.9"]
    assert spent == Epsilon.of("0.9")
    assert inf > executor.used_by(dict.fromkeys(TENNIS.by_name, 0)) == Epsilon.of("0.9").fraction
