"""Questions of every kind at places of every kind, as ledgers that exist hold them."""

from __future__ import annotations

from bocage.accounting import MemoryAccount
from bocage.epsilon import LARGEST, Epsilon
from bocage.mechanisms import Adjacency, Selection
from bocage.plan import ALWAYS, OUTSIDE, Branch, Cells, Cut
from bocage.private.choose import Candidate, Choose
from bocage.private.criteria import criterion_named
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.private.tables.histograms import Histograms
from private.questions import QUESTIONS
from private.tables import PEOPLE

TERMS = Terms(PEOPLE, Adjacency.ADD_REMOVE)
PLACES = {
    "all": lambda t: t,
    "filter": lambda t: t.where("age >= 3 and not city in ('Paris', 'Nice') or sex = 'F'"),
    "parts": lambda t: t.where("income < 50").partition("age", edges=[2, 7]),
    "values": lambda t: t.partition("city", values=["Nice", "Paris"]).partition("sex"),
    "part of a part": lambda t: t.partition("sex")["F"].partition("city")["Lyon"],
    "split": lambda t: t.partition("sex").split({1: ("age", 4), 0: ("city", None)}),
}
# Level, part and filter of QUESTIONS go to a place of their own.
ASKED_ANYWHERE = [name for name in QUESTIONS if name not in {"level", "part", "filter"}]
ASKED = {
    f"{name} of {where}": (lambda t, ask=QUESTIONS[name], go=go: ask(go(t), "0.01"))
    for name in ASKED_ANYWHERE
    for where, go in PLACES.items()
    if where in {"all", "parts"} or name == "count"
}
ASKED["counts of all but the label"] = lambda t: t.noisy_counts(("sex", "city"), "0.25")
ASKED["median"] = lambda t: t.noisy_quantile("income", 1)
ASKED["mode by weights"] = lambda t: t.noisy_mode("age", "0.5", selection="exponential")
ASKED["another label"] = lambda t: t.choose("age", "max", "0.5", label="city")
ASKED["other columns for each cell"] = lambda t: t.partition("sex").choose([["age"], ["city", "income"]], "gini", 1)

# What learners ask, beside the questions that a table has a method for.
_EPSILON, _ROUTER = Epsilon.of("0.5"), Cells((Cut("age", 3, 1, ~2), Branch("sex", (~0, ~1))), 3)
_LEAVES_OUT = Cells((Branch("city", (~0, OUTSIDE, ~1)),), 2)
LEARNERS_ASK = {
    "ensemble": Ensemble((_ROUTER, _LEAVES_OUT), "buys", _EPSILON),
    "ensemble of rows": Ensemble((_ROUTER,), None, _EPSILON),
    "agreeing counts": ConsistentCounts((_ROUTER, _LEAVES_OUT), "buys", _EPSILON),
    "histograms": Histograms((("age", "city"), ("sex",)), "buys", _EPSILON),
    "histograms of rows": Histograms((("age",),), None, _EPSILON),
    "some splits": Choose(
        (
            (Candidate("age", 2, 8, step=3), Candidate("city", values=(0, 2))),
            (Candidate("income", 1, 3, cuts=(1, 3)), Candidate("sex")),
        ),
        "buys",
        criterion_named("max"),
        Selection.EXPONENTIAL,
        _EPSILON,
        each=(Epsilon.of("0.25"), _EPSILON),
    ),
}


class Recorder:
    """An executor that keeps what it is asked."""

    terms, has_ledger, is_moving = TERMS, False, False

    def ask(self, query, place, account, *, fresh):
        self.query, self.place = query, place

    def account(self, account, place):
        return account


def asked(ask):
    """The question and the place that a call comes to."""
    recorder = Recorder()
    ask(PrivateTable(recorder, MemoryAccount.of(Epsilon(LARGEST)), WHOLE))
    return recorder.query, recorder.place


def every_question():
    """Name, question and place of all of them."""
    for name, ask in ASKED.items():
        yield name, *asked(ask)
    for name, query in LEARNERS_ASK.items():
        yield name, query, WHOLE
    _, parts = asked(lambda t: t.where("sex = 'F'").partition("city").noisy_count(1))
    yield "histograms of parts", LEARNERS_ASK["histograms"], parts
    assert parts.where != ALWAYS
