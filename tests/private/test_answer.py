"""Answers as text, table, HTML and JSON; hostile names stay text."""

from __future__ import annotations

import io
from html.parser import HTMLParser

import pytest
from rich.console import Console

from bocage.private import Answer, Kind
from bocage.schema import Categorical, Schema
from private.tables import table

VALUES = ("<script>alert(1)</script>", "[bold red]hi[/]", "[/]", "\x1b[2Jboo", "a&b")
NAME = "<i>[red]x</i>"
HOSTILE = Schema("hostile", (Categorical(NAME, VALUES),))


def hostile():
    return table({NAME: ["[/]", "[/]", "a&b"]}, HOSTILE)


def drawn(answer, *, colors=False):
    out = io.StringIO()
    Console(file=out, width=120, force_terminal=colors, color_system="truecolor" if colors else None).print(answer)
    return out.getvalue()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def test_html_shows_hostile_text_and_obeys_none_of_it():
    for answer in (hostile().noisy_counts(NAME, 1), hostile().noisy_mode(NAME, 1)):
        page = Tags()
        page.feed(answer._repr_html_())
        assert page.tags == {"table", "caption", "tr", "th", "td", "b", "small"}
        assert NAME in page.text
    page = Tags()
    page.feed(hostile().noisy_counts(NAME, 1)._repr_html_())
    assert all(value in page.text for value in VALUES)


def test_the_terminal_shows_markup_and_obeys_no_escape():
    answer = hostile().noisy_counts(NAME, 1)
    for text in (drawn(answer), str(answer), drawn(hostile().noisy_mode(NAME, 1))):
        assert "\x1b" not in text
        assert NAME in text
    assert all(value in drawn(answer) for value in VALUES if "\x1b" not in value)
    assert "\x1b[2J" not in drawn(answer, colors=True)
    assert NAME in drawn(hostile().preview().noisy_counts(NAME, 1))


def test_one_number_reads_as_a_sentence():
    assert str(table().noisy_count(1)).splitlines() == [
        "count: 8  [5, 11]",
        "  discrete Laplace · scale 1 · epsilon 1 · ledger entry 0 · 999999 left",
    ]


def test_several_numbers_stand_below_each_other():
    assert str(table().noisy_counts("city", 1)).splitlines()[:4] == [
        "count by city",
        "  Paris  2  [0, 5]",
        "  Lyon   3  [0, 6]",
        "  Nice   3  [0, 6]",
    ]


def test_a_drawing_has_intervals_and_bars():
    lines = drawn(table().noisy_counts("city", 1)).splitlines()
    assert lines[0].strip() == "count by city"
    assert "95 % interval" in lines[1]
    assert lines[3].split() == ["Lyon", "3", "0", "…", "6", "█" * 28]
    assert lines[2].count("█") == 19  # two thirds of 28


def test_large_numbers_are_parted_and_long_lists_cut():
    many = table().noisy_counts(["age", "income"], 1)
    assert len(many.items) == 40
    wider = table().partition("sex").noisy_counts(["age", "income"], 1)
    assert "… 40 more" in drawn(wider)
    assert "… 21 more" in str(wider)
    big = wider.as_kind(wider.kind, keys=("k",), values=(1234567,), lows=None, highs=None)
    assert str(big).startswith("count by age and income: 1,234,567")


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.noisy_counts("city", 1),
        lambda t: t.noisy_avg("age", 1),
        lambda t: t.choose(["age", "sex"], "max", 1),
        lambda t: t.preview().noisy_count(1),
    ],
)
def test_json_gives_the_same_answer_back(ask):
    answer = ask(table())
    assert Answer.from_json(answer.to_json()) == answer
    assert Answer.from_json(answer.to_json().encode()).kind in Kind


def test_every_answer_carries_what_it_must():
    for ask in (
        lambda t: t.noisy_count(1),
        lambda t: t.noisy_sum("age", 1),
        lambda t: t.noisy_avg("age", 1),
        lambda t: t.noisy_quantile("age", 1),
    ):
        answer = ask(table())
        low, high = answer.interval
        assert low <= answer.value <= high
        assert answer.mechanism
        assert float(answer.scale.split()[0]) > 0
        assert (answer.cost, answer.entry, answer.adjacency) == ("1", 0, "add_remove")
