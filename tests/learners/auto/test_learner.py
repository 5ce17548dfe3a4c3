"""`auto` takes a tree or tables by a public rule or after trials, and spends what it planned."""

from __future__ import annotations

import numpy as np
import pytest

from bocage import protect, study
from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners import LEARNERS, Auto
from bocage.learners.auto.trials import Known
from bocage.mechanisms import Adjacency
from bocage.model import AdditiveModel, Tree
from bocage.private import Kind, capabilities
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Schema
from private.noises import SilentNoise


def schema(attributes, labels):
    columns = tuple(Categorical(f"c{i}", ("a", "b", "c")) for i in range(attributes))
    return Schema("t", columns, Categorical("y", tuple(map(str, range(labels)))))


def even(rows, labels):
    return np.full(labels, rows // labels)


@pytest.mark.parametrize(
    ("values", "labels", "rows", "taken", "trial"),
    [
        (3, 2, 1998, ("readable",), None),
        (3, 2, 2000, ("readable", "additive"), Known.ask),  # 125 for each of 16, times 9: over 1000
        (3, 2, 4266, ("readable", "additive"), Known.ask),  # 266.6, times 9: 2400
        (3, 2, 4268, ("readable", "additive"), Known.doubt),
        (3, 2, 5000, ("readable", "additive"), Known.compare),
        (3, 2, 200_000, ("readable",), None),  # 30 for each of 6561 combinations
        (3, 3, 765, ("readable",), None),  # 23.9 for each of 32: less than 8 for each of 3 labels
        (3, 3, 768, ("bayes",), None),
        (3, 3, 5118, ("readable", "bayes"), Known.doubt),
        (3, 3, 5121, ("readable", "additive"), Known.doubt),  # 160 for each of 32
        (20, 2, 910, ("readable",), None),  # 6 for each of 152, times 400
        (20, 2, 914, ("bayes",), None),
        (20, 2, 3020, ("readable", "bayes"), Known.doubt),
        (20, 2, 7598, ("readable", "bayes"), Known.compare),  # 50 for each of 152
        (20, 2, 7602, ("readable", "additive"), Known.compare),
        (3, 4, 47_996, ("readable",), None),  # 999.9 for each of 48
        (3, 4, 48_000, ("readable", "additive", "bayes"), Known.choose),
        (600, 9, 3 * 10**7, ("readable",), None),  # an additive model would be too large
        (600, 2, 3 * 10**7, ("readable", "bayes"), Known.compare),  # likewise
    ],
)
def test_the_rule_reads_public_numbers_only(values, labels, rows, taken, trial):
    columns = tuple(Categorical(f"c{i}", tuple(map(str, range(values)))) for i in range(8))
    public = Schema("t", columns, Categorical("y", tuple(map(str, range(labels)))))
    assert Auto().rule(public, even(rows, labels), 1.0) == (taken, trial)


def test_many_attributes_of_two_values_are_left_to_a_tree():
    """As many as 2000 records times epsilon and more, but 50 for each of 80 numbers, times 4."""
    columns = tuple(Categorical(f"c{i}", ("a", "b")) for i in range(80))
    public = Schema("t", columns, Categorical("y", ("no", "yes")))
    assert Auto().rule(public, even(4000, 2), 1.0) == (("readable",), None)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [(Tree, 0.99), (AdditiveModel, 0.97)])
def test_tables_are_asked_where_a_tree_is_due(kind, least):
    """Without noise: eight attributes that add up are found by tables, two that decide together by a tree."""
    public = schema(8, 2)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 3000) for column in public}
    added = sum((rows[f"c{i}"] == "a").astype(int) for i in range(8)) > 2
    together = (rows["c3"] == "a") ^ (rows["c5"] == "a")
    rows["y"] = (together if kind is Tree else added).astype(int).astype(str)
    model = Auto().fit(silent(public, rows), "1")
    assert isinstance(model, kind)
    assert (model.predict(rows) == rows["y"]).mean() > least


def fitted(rows, public, epsilon, ledger):
    with protect(rows, public, ledger=ledger, cap=9, create=True) as table:
        analyst = table.analyst("ann", 9)
        model = Auto().fit(analyst, epsilon)
        assert str(analyst.spent()) == epsilon
    assert model.certificate.learner == "auto"
    assert model.certificate.epsilon == epsilon
    return model


@pytest.mark.slow
@pytest.mark.parametrize(("count", "labels"), [(100, 2), (1600, 3), (6000, 2), (60_000, 4)])
def test_every_way_has_the_certificate_of_the_whole_budget(tmp_path, count, labels):
    public = schema(8, labels)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, count) for column in public}
    model = fitted(rows, public, "1", tmp_path / "l.db")
    assert model.certificate.plan[0].epsilon == "0.03"
    assert str(model.certificate.used) == model.certificate.epsilon == "1"


@pytest.mark.slow
def test_much_data_of_many_labels_is_tried_with_all_and_the_best_wins(tmp_path):
    """Eight attributes that add up make tables win, where a tree would be taken without trials."""
    public = schema(8, 4)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 20_000) for column in public}
    codes = [np.searchsorted(("a", "b", "c"), rows[f"c{i}"]) for i in range(8)]
    label = np.clip(sum((c == 0).astype(int) for c in codes) - 1, 0, 3)
    rows["y"] = label.astype(str)
    model = fitted(rows, public, "8", tmp_path / "l.db")
    assert isinstance(model, AdditiveModel)
    assert (model.predict(rows) == rows["y"]).mean() > 0.8


@pytest.mark.parametrize("kind", [Tree, AdditiveModel])
@pytest.mark.parametrize("labels", [2, 3])
def test_a_tree_that_has_few_errors_at_once_is_taken_where_tables_are_due(tmp_path, kind, labels):
    """Attributes that decide, together if there are two labels, make a tree win: tried tables would be a thousand
    rows behind, and the noise of the choice is 25 rows. Eight that add up leave a tried tree with errors.
    """
    public = schema(8, labels)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 8000) for column in public}
    added = sum((rows[f"c{i}"] == "a").astype(int) for i in range(8))
    alone = np.searchsorted(("a", "b", "c"), rows["c3"])
    if labels == 2:
        alone = (rows["c3"] == "a") ^ (rows["c5"] == "a")
    rows["y"] = np.clip(alone if kind is Tree else added - 2, 0, labels - 1).astype(str)
    model = fitted(rows, public, "2", tmp_path / "l.db")
    assert isinstance(model, kind)
    assert (model.predict(rows) == rows["y"]).mean() > 0.9


class Keeping(PrivateTable):
    """Remembers what was reserved."""

    kept: list

    def reserve(self, epsilon, memo, requires=()):
        self.kept = [super().reserve(epsilon, memo)]
        return self.kept[0]


def silent(public, rows):
    """A table without noise."""
    engine = MemoryEngine(rows, public)
    executor = LiveExecutor(Terms(public, Adjacency.ADD_REMOVE), engine, SilentNoise(), Kind.RELEASE)
    return Keeping(executor, MemoryAccount.of(Epsilon.of(9)), WHOLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "epsilon", "tried"),
    [
        (4, "0.000016", 1),
        (2, "0.1", 1),
        (2, "0.500000001", 2),
        (2, "1.000000001", 2),
        (3, "1.000000001", 2),
        (4, "9", 3),
    ],
)
def test_trials_their_comparison_and_the_model_share_one_reservation_to_the_last_unit(labels, epsilon, tried):
    public = schema(8, labels)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 6000) for column in public}
    names, _ = Auto().rule(public, even(6000, labels), 0.97 * float(epsilon))
    assert len(names) == tried
    table = silent(public, rows)
    Auto().fit(table, epsilon)
    assert table.kept[0].remaining() == Epsilon(0)


@pytest.mark.parametrize(
    ("trial", "paid", "forgiven"),
    [(Known.compare, ["5", "5", "2"], (0, 30)), (Known.ask, ["5", "15", "2"], (10, 0))],
)
def test_a_tree_and_tables_are_tried_for_their_shares_of_epsilon(trial, paid, forgiven):
    class Noting(Known):
        """Notes what trials and their comparison are paid."""

        def grow(self, epsilon, leaves):
            return "tree", epsilon, leaves

        def learn(self, name, epsilon):
            return name, epsilon

    class Level:
        schema = schema(2, 2)

        def fit(self, best):
            self.asked = best.models, best.label, best.epsilon, best.forgiven
            return 1

    level = Level()
    known = Noting(None, level, even(9, 2), 1.0, None)
    names, rest = trial(known, ("readable", "bayes"), Epsilon.of(100))
    tree, tables, choice = (Epsilon.of(share) for share in paid)
    assert level.asked == ((("tree", tree, 64), ("bayes", tables)), "y", choice, forgiven)
    assert names == ("bayes",)
    assert rest == Epsilon.of(100) - tree - tables - choice


def test_what_is_too_small_to_be_shared_is_refused():
    with pytest.raises(LearnerError, match="too small to share"):
        Auto().plan(schema(2, 2), "0.000015")


def test_it_learns():
    public = schema(6, 2)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 4000) for column in public}
    rows["y"] = np.where(sum(rows[f"c{i}"] == "a" for i in range(6)) > 2, "1", "0")
    model = Auto().fit(study(rows, public), "2")
    assert (model.predict(rows) == rows["y"]).mean() > 0.85
    assert LEARNERS["auto"] is Auto


def test_it_needs_noise_on_tables_where_no_additive_model_fits_too(monkeypatch):
    """Tables of counts need it as well: a provider without it is refused before the charge."""
    monkeypatch.setattr(Auto, "fits", lambda *_: False)
    assert Auto().requires(None) == (capabilities.tables, capabilities.draws_by_rejection)
