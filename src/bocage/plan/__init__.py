"""Questions as data. Their price follows from them alone."""

from bocage.plan.cells import OUTSIDE, Branch, Cells, Cut
from bocage.plan.predicate import ALWAYS, Bound, Predicate, bind, col
from bocage.plan.question import Question, Tally
from bocage.plan.text import parse, to_text

__all__ = [
    "ALWAYS",
    "OUTSIDE",
    "Bound",
    "Branch",
    "Cells",
    "Cut",
    "Predicate",
    "Question",
    "Tally",
    "bind",
    "col",
    "parse",
    "to_text",
]
