"""Which scores are drawn among follows from public numbers."""

from __future__ import annotations

from bocage.epsilon import Epsilon
from bocage.learners.discretization import Spreads
from bocage.learners.score import rule
from bocage.learners.score.rule import ordinal_scores_of, scorecards_of
from bocage.mechanisms import Adjacency
from bocage.private import Scorecards
from bocage.private.joint.score import family, sampler
from bocage.private.query import Terms
from bocage.private.table import WHOLE
from bocage.schema import Categorical, Numeric, Schema
from learners.score.tables import (
    BOARD,
    NAMES,
    SCHEMA,
)


def test_how_many_attributes_climb_follows_from_public_numbers(monkeypatch):
    def scores(rows, epsilon="0.5", names=NAMES):
        return ordinal_scores_of(SCHEMA, names, rows, Epsilon.of(epsilon), Spreads())

    assert (scores(1000).most, scores(1000).top) == (3, 3)
    assert [block.cells for block in scores(1000).blocks] == [(2,), (3,), (4,), (4,)]
    assert scores(10**9) is None  # every choice of columns takes a look at every row
    assert (scores(1000, names=("a", "b")).most, scores(1000, names=("a", "b")).top) == (2, 4)
    assert scores(1000, names=("a",)).most == 1
    monkeypatch.setattr(rule, "ORDINAL_WORK", 2e7)
    few, many = scores(1000), scores(1000, epsilon="3")  # rates are tried beside a large one
    assert (few.most, few.top) > (many.most, many.top)


def test_what_the_rule_allows_is_never_refused_later():
    """A refusal would come when all is charged."""
    assert rule.ORDINAL_WORK / rule._frame_work(0, 1) < family.MOST_FRAMES
    assert rule.LEAVES <= family.MOST_LEAVES
    for count, cells in ((5, 5), (9, 4), (22, 12), (30, 2), (200, 2)):
        values = tuple(map(str, range(cells)))
        columns = tuple(Categorical(f"a{i}", values) for i in range(count))
        schema = Schema("t", columns, Categorical("y", ("0", "1")))
        names = tuple(column.name for column in columns)
        found = ordinal_scores_of(schema, names, 100, Epsilon.of(2), Spreads())
        fit = sampler.DrawnScores("y", Epsilon.of(2), found)
        fit.check(Terms(schema, Adjacency.ADD_REMOVE), WHOLE)


def test_wide_attributes_stay_out():
    wide, small = Categorical("w", tuple(map(str, range(40)))), Categorical("c", ("a", "b"))
    both = Schema("t", (wide, small), Categorical("y", ("0", "1")))
    found = ordinal_scores_of(both, ("w", "c"), 100, Epsilon.of(1), Spreads())
    assert [block.columns for block in found.blocks] == [("c",)]
    assert ordinal_scores_of(both, ("w",), 100, Epsilon.of(1), Spreads()) is None


def test_how_many_attributes_give_points_follows_from_public_numbers(monkeypatch):
    names = tuple(column.name for column in BOARD.attributes)

    def cards(rows, epsilon, chosen=names):
        return scorecards_of(BOARD, chosen, rows, epsilon, Spreads())

    assert cards(1000, 1.0) == Scorecards(cards(9, 1.0).blocks, 5, rich=True)
    assert not cards(25, 1.0).rich  # rich patterns are worth it with more records
    monkeypatch.setattr(rule, "FEWEST", 1)
    assert [cards(rows, 0.1).most for rows in (1, 40, 80)] == [1, 2, 5]  # little data, few of use
    monkeypatch.setattr(rule, "CARD_WORK", 1e6)
    assert cards(1000, 1.0).most == 5  # there is more time for all of them
    monkeypatch.setattr(rule, "CARD_WORK_OF_ALL", 1e6)
    assert cards(1000, 1.0).most < 5


def test_numeric_attributes_are_cut_where_rows_are_if_that_is_known():
    columns = (Numeric("n", 0, 100, 100), Numeric("m", 0, 3, 3), Categorical("c", tuple("abc")))
    schema = Schema("t", columns, Categorical("y", ("0", "1")))

    class Known(Spreads):
        def cuts(self, name, cells):
            return (1, 2, 3)[: cells - 1] if name == "n" else ()

    blocks = scorecards_of(schema, ("n", "m", "c"), 1000, 1.0, Known()).blocks
    assert [block.cells for block in blocks] == [(4,), (3,), (3,)]
    assert [block.cuts for block in blocks] == [((1, 2, 3),), (), ()]
