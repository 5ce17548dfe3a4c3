"""Epsilon asked = charged = used.

What a mechanism uses is worked out here by brute force: the exact numbers (or scores) that reach
the noise are captured on every table of a tiny domain, and their largest change between neighbors
is divided by the scale (or multiplied by the rate) that the noise provider was given.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.accounting import MemoryAccount
from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency
from bocage.plan import Tally
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentNoise, SilentRecordingNoise
from private.tables import table


class Probe(SilentNoise):
    """Adds zeros, and keeps scores; numbers are read from the released values."""

    def __init__(self):
        self.scales, self.scores, self.rates = [], [], []

    def laplace(self, scale, size):
        self.scales.append(scale)
        return super().laplace(scale, size)

    def select(self, contests, selection):
        self.scores += [contest.scores.copy() for contest in contests]
        self.rates += [contest.rate for contest in contests]
        return super().select(contests, selection)


def schema_of(numeric, row_cap=8):
    return Schema(
        "tiny",
        (Categorical("a", ("u", "v")), numeric),
        label=Categorical("c", ("no", "yes")),
        row_cap=row_cap,
    )


def records(schema):
    """One record for each combination of codes."""
    numeric = schema.attributes[1]
    numbers = [float(numeric.value(code)) for code in range(numeric.cells)]
    return list(product(("u", "v"), numbers, ("no", "yes")))


def rows_of(schema, chosen):
    names = [column.name for column in schema]
    return {name: [record[i] for record in chosen] for i, name in enumerate(names)}


def run(ask, schema, chosen, adjacency):
    """What reaches the noise: released exact numbers or scores, and scales or rates."""
    probe = Probe()
    private = table(rows_of(schema, chosen), schema, noise=probe, adjacency=adjacency)
    return ask(private), probe


def neighbors(schema, adjacency, most_rows):
    """Pairs of tables as lists of records."""
    every = records(schema)
    for size in range(most_rows):
        for chosen in combinations_with_replacement(every, size):
            for record in every:
                if adjacency is Adjacency.ADD_REMOVE:
                    yield list(chosen), [*chosen, record]
                else:
                    for other in every:
                        yield [*chosen, record], [*chosen, other]


numerics = st.one_of(
    st.builds(
        lambda low, step, n: Numeric("x", lower=low, upper=low + n * step, step=step),
        st.fractions(-3, 3, max_denominator=4),
        st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(3, 10)]),
        st.integers(1, 3),
    ),
    st.builds(
        lambda low, width, n: Numeric("x", lower=low, upper=low + width, cells=n),
        st.fractions(-3, 3, max_denominator=4),
        st.sampled_from([Fraction(1), Fraction(7, 2)]),
        st.integers(2, 4),
    ),
)
epsilons = st.integers(4, 3 * 10**9).map(Epsilon)
adjacencies = st.sampled_from(list(Adjacency))
AMOUNTS = [Epsilon(1), Epsilon.of("0.3"), Epsilon.of("2.345678901")]


def fixed(schema, chosen, column):
    """Exact sum in units of the column's grid, from the definition of a cell's value."""
    numeric = schema.numeric(column)
    unit, _, _ = numeric.fixed_point
    i = [c.name for c in schema].index(column)
    return sum((numeric.value(numeric.cell_of(r[i])) for r in chosen), Fraction(0)) / unit


def centered(schema, chosen, column):
    numeric = schema.numeric(column)
    i = [c.name for c in schema].index(column)
    return sum(2 * numeric.cell_of(r[i]) - (numeric.cells - 1) for r in chosen)


def counts(schema, chosen, names):
    order = [c.name for c in schema]
    keys = [tuple(r[order.index(n)] for n in names) for r in chosen]
    return {key: keys.count(key) for key in set(keys)}


def l1(one, other):
    return sum(abs(one.get(k, 0) - other.get(k, 0)) for k in {*one, *other})


def largest(schema, adjacency, distance, most_rows=1):
    # Counts and sums add up over the records: the change does not depend on the other rows.
    return max(distance(d, e) for d, e in neighbors(schema, adjacency, most_rows))


def charged(private, answer, epsilon):
    assert private.spent() == epsilon
    assert answer.cost == str(epsilon)


@settings(max_examples=40, deadline=None)
@given(numeric=numerics, epsilon=epsilons, adjacency=adjacencies)
def test_counts_use_what_is_charged(numeric, epsilon, adjacency):
    schema = schema_of(numeric)
    for ask, names in [
        (lambda t: t.noisy_counts("a", epsilon), ["a"]),
        (lambda t: t.noisy_counts(["a", "c"], epsilon), ["a", "c"]),
        (lambda t: t.partition("a").noisy_count(epsilon), ["a"]),
        (lambda t: t.partition("x").partition("a").noisy_counts("c", epsilon), ["x", "a", "c"]),
    ]:
        probe = SilentRecordingNoise()
        private = table(rows_of(schema, []), schema, noise=probe, adjacency=adjacency)
        charged(private, ask(private), epsilon)
        sensitivity = largest(
            schema,
            adjacency,
            lambda d, e, names=names: l1(counts(schema, d, names), counts(schema, e, names)),
        )
        ((scale, _),) = probe.scales
        assert sensitivity / scale == epsilon.fraction


def test_a_plain_count_uses_at_most_what_is_charged():
    # Replacing a record leaves the number of all rows alone: less is used than charged, because
    # the price does not depend on the filter.
    schema = schema_of(Numeric("x", lower=0, upper=1, step=1))
    probe = SilentRecordingNoise()
    private = table(rows_of(schema, []), schema, noise=probe)
    private.noisy_count("0.7")
    ((scale, _),) = probe.scales
    assert 1 / scale == Fraction(7, 10)


@settings(max_examples=40, deadline=None)
@given(numeric=numerics, epsilon=epsilons)
def test_sums_use_what_is_charged(numeric, epsilon):
    schema = schema_of(numeric)
    probe = SilentRecordingNoise()
    private = table(rows_of(schema, []), schema, noise=probe)
    charged(private, private.noisy_sum("x", epsilon), epsilon)
    sensitivity = largest(
        schema,
        Adjacency.ADD_REMOVE,
        lambda d, e: abs(fixed(schema, d, "x") - fixed(schema, e, "x")),
    )
    ((scale, _),) = probe.scales
    assert max(sensitivity, 1) / scale == epsilon.fraction


@settings(max_examples=40, deadline=None)
@given(numeric=numerics, epsilon=epsilons)
def test_averages_use_what_is_charged(numeric, epsilon):
    schema = schema_of(numeric)
    probe = SilentRecordingNoise()
    private = table(rows_of(schema, []), schema, noise=probe)
    charged(private, private.noisy_avg("x", epsilon), epsilon)
    of_sum = largest(
        schema,
        Adjacency.ADD_REMOVE,
        lambda d, e: abs(centered(schema, d, "x") - centered(schema, e, "x")),
    )
    (sum_scale, _), (count_scale, _) = probe.scales
    assert of_sum / sum_scale + 1 / count_scale == epsilon.fraction


def widest(ask, schema, most_rows):
    """The sum over the contests of a question of rate times the largest spread of score changes."""
    spreads, rates = None, None
    seen = {}

    def scores(chosen):
        key = tuple(sorted(chosen))
        if key not in seen:
            seen[key] = run(ask, schema, chosen, Adjacency.ADD_REMOVE)[1]
        return seen[key]

    for d, e in neighbors(schema, Adjacency.ADD_REMOVE, most_rows):
        before, after = scores(d), scores(e)
        changes = [b - a for a, b in zip(before.scores, after.scores, strict=True)]
        # A change of 0 is always among them: the record may be in another cell.
        spread = [int(max(c.max(), 0) - min(c.min(), 0)) for c in changes]
        spreads = np.maximum(spreads, spread) if spreads is not None else np.array(spread)
        rates = before.rates
    # A rehearsal on no data is a contest too, and uses nothing.
    return sum(rate * int(spread) for rate, spread in zip(rates, spreads, strict=True))


@pytest.mark.parametrize("selection", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("epsilon", AMOUNTS)
def test_modes_use_what_is_charged(selection, epsilon):
    schema = schema_of(Numeric("x", lower=0, upper=2, step=1))
    used = widest(lambda t: t.noisy_mode("x", epsilon, selection=selection), schema, 2)
    assert used == epsilon.fraction


@pytest.mark.parametrize("epsilon", ["0.000000004", "0.000000007", "1", "2.345678901", "500"])
@pytest.mark.parametrize("level", ["0.5", "0.9", "0.05", "1/3"])
def test_quantiles_use_what_is_charged(level, epsilon):
    amount = Epsilon.of(epsilon)
    schema = Schema("ages", (Numeric("x", lower=0, upper=3, step=1),))

    def probe_of(counts):
        probe = Probe()
        engine = Counted(schema, np.array(counts, np.int64))
        private = table(schema=schema, engine=engine, noise=probe)
        charged(private, private.noisy_quantile("x", amount, level=level), amount)
        return probe

    spread = 0
    far = int(40 / float(amount)) + 50
    for counts in product((0, 20, far * 30), repeat=4):
        before = probe_of(counts)
        for more in range(4):
            after = probe_of([n + (i == more) for i, n in enumerate(counts)])
            (change,) = (b - a for a, b in zip(before.scores, after.scores, strict=True))
            spread = max(spread, int(np.ptp(change)))
    # One selection, and one count for each of some runs of cells: a record is in one of them.
    (rate,), (scale,) = before.rates, before.scales
    assert [rate * spread, 1 / scale] == [part.fraction for part in amount.split([1, 1])]


class Counted:
    """An engine for tables given by the counts of their one column."""

    name = "counted"

    def __init__(self, schema, counts):
        self.schema, self.counts = schema, counts

    version = "1"

    def pin(self):
        return self

    def close(self):
        pass

    def answer(self, questions):
        counts = self.counts[None, :, None]
        return [Tally(counts.sum(axis=1), {"x": counts}, {}) for _ in questions]


@pytest.mark.parametrize("selection", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("epsilon", AMOUNTS)
def test_choices_by_max_use_what_is_charged(selection, epsilon):
    schema = schema_of(Numeric("x", lower=0, upper=2, step=1))
    used = widest(lambda t: t.choose(["a", "x"], "max", epsilon, selection=selection), schema, 2)
    assert used == epsilon.fraction


@pytest.mark.parametrize("criterion", ["gini", "information_gain"])
def test_choices_by_the_other_criteria_never_use_more(criterion):
    # Their ranges are reached only in the limit, or at the row cap.
    epsilon = Epsilon.of("0.7")
    schema = schema_of(Numeric("x", lower=0, upper=1, step=1), row_cap=4)
    used = widest(lambda t: t.choose(["a", "x"], criterion, epsilon), schema, 3)
    assert 0 < used <= epsilon.fraction


def test_a_criterion_reaches_its_range_at_the_row_cap():
    # Information gain: N - 1 records of one label in one branch, then one of the other label.
    schema = schema_of(Numeric("x", lower=0, upper=1, step=1), row_cap=30)
    epsilon = Epsilon.of(1)
    pure = [("u", 0.0, "no")] * 29
    ask = lambda t: t.choose(["a"], "information_gain", epsilon)  # noqa: E731 - a question
    _, before = run(ask, schema, pure, Adjacency.ADD_REMOVE)
    _, after = run(ask, schema, [*pure, ("u", 0.0, "yes")], Adjacency.ADD_REMOVE)
    moved = int(abs(before.scores[0] - after.scores[0]).max())
    assert before.rates[0] * moved == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.noisy_count(1),
        lambda t: t.noisy_counts("a", 1),
        lambda t: t.noisy_sum("x", 1),
        lambda t: t.noisy_avg("x", 1),
        lambda t: t.noisy_quantile("x", 1),
        lambda t: t.noisy_mode("a", 1),
        lambda t: t.choose(["a", "x"], "gini", 1),
        lambda t: t.choose(["a", "x"], "information_gain", 1, selection="exponential"),
    ],
)
def test_replace_and_cut_tables_double_the_noise(ask):
    base = schema_of(Numeric("x", lower=0, upper=3, step=1))
    cut = Schema(base.name, base.attributes, base.label, base.row_cap, over_cap="cut")
    one, replaced, cut_off = (
        run(ask, schema, [("u", 1.0, "no")], adjacency)[1]
        for schema, adjacency in [
            (base, Adjacency.ADD_REMOVE),
            (base, Adjacency.REPLACE),
            (cut, Adjacency.ADD_REMOVE),
        ]
    )
    for wide in (replaced, cut_off):
        assert wide.scales == [2 * scale for scale in one.scales]
        assert wide.rates == [rate / 2 for rate in one.rates]
    assert one.scales or one.rates


def test_a_cut_table_is_two_records_away_from_its_neighbor():
    # Why `cut` doubles the noise: a record that comes in first drives the last one out.
    schema = Schema("cut", (Categorical("a", ("u", "v")),), row_cap=2, over_cap="cut")
    one = table({"a": ["u", "u"]}, schema).noisy_counts("a", 1).values
    more = table({"a": ["v", "u", "u"]}, schema).noisy_counts("a", 1).values
    assert (one, more) == ((2, 0), (1, 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("FM"), epsilons), min_size=1, max_size=6))
def test_parts_cost_the_maximum_of_what_they_used(spending):
    private = table(account=MemoryAccount.of(Epsilon.of(10**6)))
    parts = private.partition("sex")
    for key, epsilon in spending:
        parts[key].noisy_count(epsilon, fresh=True)
    sums = [sum(e.nano for k, e in spending if k == key) for key in "FM"]
    assert private.spent() == Epsilon(max(sums))


def test_rising_edges_are_distinct():
    keys = table().partition("age", edges=[1, 2, 3]).keys()
    assert all(a != b for a, b in pairwise(keys))
