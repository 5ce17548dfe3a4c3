"""Questions as data. Their price follows from them alone.

`documents` is the one form in which a question is kept and travels: steps to rows, and what is asked
of them. `text` reads a filter, `predicate` binds it to a schema, `cells` parts the rows by `splits`,
and `regions` says by what name a set of rows is charged. `question` is what an engine is asked in the
end.
"""

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
