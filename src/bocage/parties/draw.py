"""Drawing a plan: random trees from the schema, for owners of rows or of columns."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from math import isqrt

from bocage.epsilon import Epsilon
from bocage.errors import PartyError
from bocage.learners.papers.rdt import RandomTrees
from bocage.parties.plan import (
    MOST_CONTRIBUTIONS,
    PartyPlan,
    Share,
    adjacency_named,
    check_name,
)
from bocage.private import Adjacency, EpsilonLike
from bocage.schema import Schema


def plan_rows(
    schema: Schema,
    epsilon: EpsilonLike,
    *,
    trees: int | None = None,
    height: int | None = None,
    rows: int | None = None,
    owners: int = 1,
    attributes: Sequence[str] | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
) -> PartyPlan:
    """A plan for owners of different rows (section 5.3, horizontally partitioned data).

    Parameters
    ----------
    schema
        Every owner's table has it.
    epsilon
        What a person pays, who must be in one owner's table only.
    trees, height
        Of the ensemble; without both of them `rows`, the public size of all tables together, is
        needed for the rule of the learner.
    owners
        How many are expected to contribute; more or fewer may come. Each brings noise of its own, so
        that the rule takes fewer and lower trees for many: the variance is `owners` times as large,
        as if epsilon were divided by the square root of their number.
    attributes
        Those that a tree may split by; None for all.
    """
    amount = Epsilon.of(epsilon)
    if type(owners) is not int or not 1 <= owners <= MOST_CONTRIBUTIONS:
        raise PartyError(f"a plan has 1 to {MOST_CONTRIBUTIONS} owners, not {owners!r}.")
    named = None if attributes is None else tuple(attributes)
    share = _drawn(
        None,
        schema,
        named,
        amount,
        RandomTrees(trees=trees, height=height, rows=rows, attributes=named),
        owners=owners,
    )
    return PartyPlan(secrets.token_hex(16), schema, adjacency_named(adjacency), (share,))


def plan_columns(
    schema: Schema,
    epsilon: EpsilonLike,
    parties: Mapping[str, Sequence[str]],
    *,
    trees: int | None = None,
    height: int | None = None,
    rows: int | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
) -> PartyPlan:
    """A plan for owners of different columns of the same persons (Algorithm 6).

    Parameters
    ----------
    schema
        Of the joint table.
    epsilon
        What a person pays to all owners together; each owner has an equal part of it.
    parties
        For every owner the columns that they hold; all hold the label.
    trees, height, rows
        As in :func:`plan_rows`, for every owner.

    Privacy
    -------
    The paper says that the price is the largest of the owners', by parallel composition. That is
    wrong: a person is in all tables, and the prices add up. Hence the parts of epsilon.
    """
    if len(parties) < 2:
        raise PartyError("columns are shared by two parties or more.")
    amounts = Epsilon.of(epsilon).split([1] * len(parties))
    shares = []
    for (party, columns), amount in zip(parties.items(), amounts, strict=True):
        learner = RandomTrees(trees=trees, height=height, rows=rows, attributes=tuple(columns))
        shares.append(_drawn(check_name(party), schema, tuple(columns), amount, learner))
    return PartyPlan(secrets.token_hex(16), schema, adjacency_named(adjacency), tuple(shares))


def _drawn(
    party: str | None,
    schema: Schema,
    attributes: tuple[str, ...] | None,
    epsilon: Epsilon,
    learner: RandomTrees,
    *,
    owners: int = 1,
) -> Share:
    if learner.rows is None and (learner.trees is None or learner.height is None):
        raise PartyError(
            "the number of trees and the height cannot come from the tables: declare the rows of "
            "all owners together, or both trees and height."
        )
    learner.plan(schema, epsilon)  # refuses parameters that do not fit
    diluted = Epsilon(max(1, isqrt(epsilon.nano**2 // owners)))  # for the rule alone
    trees = learner.structures(schema, learner.rows, diluted)
    names = attributes or tuple(a.name for a in schema.attributes)
    return Share(party, names, epsilon, tuple(trees))
