from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from rich.console import Console

from bocage.errors import ModelError
from bocage.model import Forest, Tree, TreeBuilder, rules, to_rich, to_text
from bocage.plan import bind, parse
from bocage.schema import Categorical, Numeric
from models import certificate_of, models, schema_of

SCHEMA = schema_of(
    Categorical("job", ("farmer", "clerk")),
    Numeric("dose", 0, 1, cells=3),
    Numeric("age", 0, 99, step=1),
)


def tree() -> Tree:
    builder = TreeBuilder(SCHEMA)
    builder.counts(0, [60, 40])
    young, old = builder.split(0, "age", 40)
    builder.total(young, 55)
    middle, oldest = builder.split(old, "age", 70)
    builder.counts(old, [-5, 45])
    builder.counts(middle, [10, 30])
    builder.counts(oldest, [-1, -2])
    for leaf in builder.split(young, "dose"):
        builder.label(leaf, 0)
        builder.total(leaf, -4)
    return builder.freeze(certificate_of(SCHEMA))


def test_rules_and_sub_rules_with_confidence_and_support():
    found = [(r.text, r.label, r.confidence, r.support, r.depth, r.leaf) for r in rules(tree())]
    assert found == [
        ("all rows", "no", 0.6, 100, 0, False),
        ("age ≥ 40", "yes", 1.0, 45, 1, False),
        ("age < 40 and dose < 0.333333", "no", None, 0, 2, True),
        ("age < 40 and 0.333333 ≤ dose < 0.666667", "no", None, 0, 2, True),
        ("age < 40 and dose ≥ 0.666667", "no", None, 0, 2, True),
        ("40 ≤ age < 70", "yes", 0.75, 40, 2, True),
        ("age ≥ 70", "no", 0.0, 0, 2, True),
    ]
    assert len(rules(tree(), sub_rules=False)) == 5


def test_a_rule_is_also_an_exact_filter():
    rule = rules(tree())[3]
    bound = bind(parse(rule.where), SCHEMA)
    assert rule.where == "age < 40 AND dose >= 1/3 AND dose < 2/3"
    assert bound == bind(parse("age < 40 AND dose >= 1/3 AND dose < 2/3"), SCHEMA)


def test_rules_can_be_sorted_and_filtered():
    found = rules(tree())
    assert [r.confidence for r in found.sorted("confidence")] == [
        1.0,
        0.75,
        0.6,
        0.0,
        None,
        None,
        None,
    ]
    assert [r.support for r in found.sorted("support", descending=False)][-1] == 100
    assert [r.text for r in found.filtered(label="yes", min_support=41)] == ["age ≥ 40"]
    assert len(found.filtered(min_confidence=0.7)) == 2
    assert len(found.filtered(text="DOSE")) == 3
    assert len(found.filtered(leaves_only=True, text="age ≥")) == 1
    with pytest.raises(ModelError, match="sorted by"):
        found.sorted("mood")  # type: ignore[arg-type] # on purpose


def test_rules_of_a_forest_name_their_tree():
    forest = Forest((tree(), tree()), "majority", certificate_of(SCHEMA))
    assert [rule.tree for rule in rules(forest)] == [0] * 7 + [1] * 7
    listed = json.loads(rules(forest).to_json())
    assert listed[0] == {
        "tree": 0,
        "node": 0,
        "text": "all rows",
        "where": "TRUE",
        "label": "no",
        "confidence": 0.6,
        "support": 100,
        "depth": 0,
        "leaf": False,
    }


def printed(renderable) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined] # a StringIO


def test_rules_and_trees_are_printed_for_the_terminal():
    assert "40 ≤ age < 70" in printed(rules(tree()))
    assert "75.0%" in printed(rules(tree()))
    assert "└── age ≥ 70 → no  [no -1, yes -2]" in printed(to_rich(tree()))


def test_the_plain_text_shows_what_was_released():
    assert to_text(tree()).splitlines() == [
        "all rows: no  [no 60, yes 40]",
        "├─ age < 40: no  [55 rows]",
        "│  ├─ dose < 0.333333: no  [-4 rows]",
        "│  ├─ 0.333333 ≤ dose < 0.666667: no  [-4 rows]",
        "│  └─ dose ≥ 0.666667: no  [-4 rows]",
        "└─ age ≥ 40: yes  [no -5, yes 45]",
        "   ├─ 40 ≤ age < 70: yes  [no 10, yes 30]",
        "   └─ age ≥ 70: no  [no -1, yes -2]",
    ]


@settings(deadline=None, max_examples=40)
@given(model=models())
def test_every_rule_of_every_model_can_be_read_as_a_filter(model):
    for rule in rules(model):
        bind(parse(rule.where), model.schema)
        assert rule.confidence is None or 0 <= rule.confidence <= 1
    printed(rules(model))
    for part in model.trees if isinstance(model, Forest) else (model,):
        printed(to_rich(part))
        assert to_text(part).startswith("all rows: ")


def test_names_and_values_are_no_markup():
    schema = schema_of(Categorical("[red]x", ("[/red]", "b")), labels=("[bold]", "y"))
    builder = TreeBuilder(schema)
    for leaf in builder.split(0, "[red]x"):
        builder.counts(leaf, [3, 1])
    made = builder.freeze(certificate_of(schema))
    assert "[red]x is [/red] → [bold]" in printed(to_rich(made))
    assert "[red]x is [/red]" in printed(rules(made))
