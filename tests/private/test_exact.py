"""With silent noise, every question gives what is counted by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bocage.errors import PlanError
from bocage.plan import Branch, Cells, Cut, col
from bocage.private import Count, Counts, Histograms
from bocage.schema import Categorical, Numeric, Schema
from private.tables import EMPTY, PEOPLE, ROWS, TENNIS, WEATHER, table


def values(answer):
    return dict(zip(answer.keys, answer.values, strict=True))


def test_count_of_all_rows():
    assert table().noisy_count(1).value == 8
    assert table(EMPTY).noisy_count(1).value == 0


@pytest.mark.parametrize(
    ("predicate", "rows"),
    [
        ("age >= 5", 4),
        (col("age") >= 5, 4),
        ("sex = 'F' and city != 'Nice'", 3),
        ((col("sex") == "F") & (col("city") != "Nice"), 3),
        ("city in ('Paris', 'Nice') or age > 8", 6),
        (col("city").is_in("Paris", "Nice") | (col("age") > 8), 6),
        ("not age between 2 and 5", 3),
        (~col("age").between(2, 5), 3),
        ("income < 50", 4),
        ("income >= 30", 4),  # a number is known by the lower edge of its cell: 30 lies in [25, 50)
        ("false", 0),
        ("true", 8),
    ],
)
def test_where_counts_the_rows_that_pass(predicate, rows):
    assert table().where(predicate).noisy_count(1).value == rows


def test_filters_after_one_another_must_all_hold():
    twice = table().where("sex = 'F'").where("age >= 4 or city = 'Paris'").where("age < 5")
    assert twice.noisy_count(1).value == 2  # Paris 3, Nice 4


def test_a_very_long_chain_of_filters_is_still_answered():
    filtered = table()
    for _ in range(3000):
        filtered = filtered.where("age <= 9")
    assert filtered.noisy_count(1).value == 8


def test_counts_by_one_column():
    assert values(table().noisy_counts("city", 1)) == {"Paris": 2, "Lyon": 3, "Nice": 3}
    by_income = values(table().noisy_counts("income", 1))
    assert by_income == {"[0, 25)": 2, "[25, 50)": 2, "[50, 75)": 1, "[75, 100)": 3}


def test_counts_by_two_columns_jointly():
    answer = table().noisy_counts(("sex", "buys"), 1)
    assert values(answer) == {"F / yes": 2, "F / no": 2, "M / yes": 2, "M / no": 2}
    joint = values(table().noisy_counts(["city", "sex"], 1))
    assert joint["Paris / M"] == 0
    assert joint["Lyon / M"] == 2


def test_counts_of_a_partition_name_both():
    answer = table().partition("sex").noisy_counts("city", 1)
    assert answer["F / Paris"].value == 2
    assert answer["M / Nice"].value == 2
    assert sum(answer.values) == 8


def test_partition_by_values_has_one_cell_for_each():
    parts = table().partition("city")
    assert parts.keys() == ("Paris", "Lyon", "Nice")
    assert values(parts.noisy_count(1)) == {"Paris": 2, "Lyon": 3, "Nice": 3}
    assert parts["Lyon"].noisy_count(1).value == 3
    assert [part.noisy_count(1).value for _, part in parts.items()] == [2, 3, 3]


def test_partition_by_some_values_leaves_the_others_out():
    parts = table().partition("city", values=["Nice", "Paris"])
    assert values(parts.noisy_count(1)) == {"Nice": 3, "Paris": 2}
    assert parts["Nice"].noisy_sum("age", 1).value == 6


def test_partition_by_edges():
    parts = table().partition("age", edges=[3, 5])
    assert values(parts.noisy_count(1)) == {"[0, 3)": 2, "[3, 5)": 2, "[5, 9]": 4}
    by_income = table().partition("income", edges=[30])  # the next grid edge is 50
    assert values(by_income.noisy_count(1)) == {"[0, 50)": 4, "[50, 100]": 4}


def test_partition_by_every_grid_cell():
    answer = table().partition("age").noisy_count(1)
    assert answer.values == (1, 0, 1, 1, 1, 2, 0, 1, 0, 1)


def test_nested_partitions():
    both = table().partition("sex").partition("buys")
    assert values(both.noisy_count(1)) == {"F / yes": 2, "F / no": 2, "M / yes": 2, "M / no": 2}
    inner = table().partition("sex")["M"].partition("city", values=["Lyon"])
    assert inner["Lyon"].noisy_sum("age", 1).value == 16
    assert table().partition("sex")["M"].where("age > 1").noisy_count(1).value == 3


class Leaves:
    """A released tree: income below 50, else by sex."""

    cells = Cells((Cut("income", 2, ~0, 1), Branch("sex", (~1, ~2))), 3)
    leaf_names = ("poor", "rich F", "rich M")


class Stump:
    cells = Cells()
    leaf_names = ("all",)


def test_partition_by_the_leaves_of_a_tree():
    parts = table().partition(Leaves())
    assert values(parts.noisy_count(1)) == {"poor": 4, "rich F": 2, "rich M": 2}
    assert parts["rich M"].noisy_sum("age", 1).value == 16
    assert values(table().where("age > 4").partition(Leaves()).noisy_count(1)) == {
        "poor": 1,
        "rich F": 1,
        "rich M": 2,
    }


def test_a_part_can_be_parted_by_a_tree():
    lyon = table().partition("city")["Lyon"]
    assert values(lyon.partition(Leaves()).noisy_count(1)) == {"poor": 0, "rich F": 1, "rich M": 2}
    assert lyon.partition(Stump()).noisy_count(1).values == (3,)
    assert table().partition(Stump())["all"].partition("sex").noisy_count(1).values == (4, 4)


def test_split_goes_on_below_chosen_cells():
    parts = table().partition("sex").split({1: ("income", 2), 0: ("city", None)})
    assert values(parts.noisy_count(1)) == {
        "M / income < 50": 2,
        "M / income >= 50": 2,
        "F / city = Paris": 2,
        "F / city = Lyon": 1,
        "F / city = Nice": 1,
    }


def test_sums_on_a_step_grid():
    assert table().noisy_sum("age", 1).value == 35
    assert table().where("sex = 'M'").noisy_sum("age", 1).value == 18
    assert values(table().partition("city").noisy_sum("age", 1)) == {
        "Paris": 8,
        "Lyon": 21,
        "Nice": 6,
    }


def test_sums_on_cells_stand_for_their_middles():
    assert table().noisy_sum("income", 1).value == 425.0
    assert table(EMPTY).noisy_sum("income", 1).value == 0.0


def test_sums_are_exact_in_fixed_point():
    odd = Schema("odd", (Numeric("x", lower="-0.7", upper="0.5", step="0.3"),))
    rows = {"x": [-0.7, -0.4, -0.1, 0.2, 0.5, 0.5, 0.21]}
    # -0.7 - 0.4 - 0.1 + 0.2 + 0.5 + 0.5 + 0.2
    assert table(rows, odd).noisy_sum("x", 1).value == pytest.approx(0.2, abs=1e-15)
    assert table(rows, odd).noisy_avg("x", 1).value == float(Fraction("0.2") / 7)


def test_the_sum_of_a_grid_that_only_holds_zero():
    flat = Schema("flat", (Numeric("x", lower=-1, upper=1, cells=1),))
    assert table({"x": [0.5, -1]}, flat).noisy_sum("x", 1).value == 0


def test_averages():
    assert table().noisy_avg("age", 1).value == 35 / 8
    assert table().noisy_avg("income", 1).value == 425 / 8
    assert values(table().partition("city").noisy_avg("age", 1)) == {
        "Paris": 4.0,
        "Lyon": 7.0,
        "Nice": 2.0,
    }


def test_the_average_of_nothing_is_the_middle():
    assert table(EMPTY).noisy_avg("age", 1).value == 4.5
    assert table(EMPTY).noisy_avg("age", 1).interval == (0.0, 9.0)


@pytest.mark.parametrize(
    ("ages", "level", "expected"),
    [
        ([0, 2, 3, 4, 5, 5, 7, 9], "0.5", 4),  # 4 and 5 both have half of the rows on either side
        ([0, 2, 3, 4, 5, 5, 7, 9], "0.9", 9),
        ([0, 2, 3, 4, 5, 5, 7, 9], 0.1, 0),
        ([5, 5, 5, 5, 9], "0.5", 5),
        ([5, 5, 5, 5, 9], "3/4", 5),
        ([6], "0.5", 6),
        ([6], "0.01", 6),
        ([1, 9], "0.5", 1),
        ([], "0.5", 0),  # every cell is as good
    ],
)
def test_quantiles(ages, level, expected):
    only = Schema("ages", (PEOPLE["age"],))
    assert table({"age": ages}, only).noisy_quantile("age", 1, level=level).value == expected


def test_quantiles_of_cells_are_their_middles_and_intervals_their_edges():
    answer = table().noisy_quantile("income", 10**6)  # so much that no rank is lost
    assert answer.value == 37.5
    low, high = answer.interval
    assert low <= 25
    assert high >= 50
    assert table(EMPTY).noisy_quantile("income", 1).interval == (0.0, 100.0)


def test_quantiles_of_parts():
    medians = values(table().partition("city").noisy_quantile("age", 1))
    assert medians == {"Paris": 3, "Lyon": 7, "Nice": 2}


def test_mode():
    assert table().noisy_mode("age", 1).value == "5"
    assert values(table().partition("sex").noisy_mode("city", 1)) == {"F": "Paris", "M": "Lyon"}
    assert table().noisy_mode("income", 1, selection="exponential").value == "[75, 100)"


NAMES = ["temperature", "outlook", "humidity", "wind"]


@pytest.mark.parametrize("selection", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("criterion", ["max", "gini", "information_gain"])
def test_the_textbook_root_is_outlook(criterion, selection):
    answer = table(WEATHER, TENNIS).choose(NAMES, criterion, 1, selection=selection)
    assert answer.value == "outlook"
    assert answer.splits == (("outlook", None),)


@pytest.mark.parametrize("criterion", ["max", "gini", "information_gain"])
def test_the_textbook_second_level_is_humidity_and_wind(criterion):
    level = table(WEATHER, TENNIS).partition("outlook")
    answer = level.choose(["humidity", "wind"], criterion, 1)
    assert (answer["sunny"].value, answer["rain"].value) == ("humidity", "wind")


def test_choose_takes_candidates_for_each_cell():
    level = table(WEATHER, TENNIS).partition("wind")
    answer = level.choose([["temperature"], ["humidity", "temperature"]], "gini", 1)
    assert answer.values[0] == "temperature"
    assert table(WEATHER, TENNIS).choose("wind", "max", 1).value == "wind"


@pytest.mark.parametrize("criterion", ["max", "gini", "information_gain"])
@pytest.mark.parametrize("selection", ["exponential", "permute_and_flip"])
def test_choose_finds_the_threshold_that_parts_the_label(criterion, selection):
    # buys is yes below an income of 50, no from there on: no other split is pure.
    answer = table().choose(["sex", "income", "age", "city"], criterion, 1000, selection=selection)
    assert answer.value == "income < 50"
    assert answer.splits == (("income", 2),)


def test_choose_another_label():
    answer = table().choose(["age", "income"], "max", 100, label="city")
    assert answer.question == "best split for city by max"


def test_partition_keys_are_told_apart_even_where_values_imitate_the_separator():
    tricky = Schema(
        "tricky",
        (Categorical("a", ("x", "x / y", "")), Categorical("b", ("y / z", "z"))),
    )
    rows = {"a": ["x", "x / y", "x / y", ""], "b": ["y / z", "z", "z", "z"]}
    parts = table(rows, tricky).partition("a").partition("b")
    assert len(set(parts.keys())) == 6
    assert sorted(p.noisy_count(1).value for _, p in parts.items()) == [0, 0, 0, 1, 1, 2]
    assert table(rows, tricky).partition("a")[""].noisy_count(1).value == 1


def test_grid_cells_that_print_alike_are_numbered():
    fine = Schema("fine", (Numeric("x", lower=10**6, upper=10**6 + 1, cells=2**14),))
    keys = table({"x": [10**6]}, fine).noisy_counts("x", 1).keys
    assert len(set(keys)) == 2**14


def test_answers_are_found_by_key():
    answer = table().noisy_counts("city", 1)
    assert answer["Nice"].value == 3
    with pytest.raises(PlanError, match="no item 'Bern'"):
        answer["Bern"]
    with pytest.raises(PlanError, match="several items"):
        answer.value  # noqa: B018 - reading it raises


def test_the_reservation_of_a_learner_counts_the_same():
    level = table(WEATHER, TENNIS).reserve(10, "a tree")
    from bocage.epsilon import Epsilon

    one = Epsilon.of(1)
    assert level.ask(Count(one)).tolist() == [14]
    below = level.split([("outlook", None)])
    assert below.ask(Count(one)).tolist() == [5, 4, 5]
    assert below.ask(Counts(("play",), one)).tolist() == [[3, 2], [0, 4], [2, 3]]
    columns = (("wind",), ("wind",), ("humidity",))
    (sunny, *_) = below.ask(Histograms(columns, "play", one))
    assert sunny["wind"].tolist() == [[2, 1], [1, 1]]
    assert str(level.remaining()) == "6"


def test_rows_of_the_reference_table_are_eight():
    assert {len(column) for column in ROWS.values()} == {8}
