"""The lines of a certificate: what was released, and how the costs of several releases add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from bocage.documents.entries import Entries
from bocage.epsilon import Epsilon
from bocage.errors import EpsilonError, ModelError

_read = Entries(ModelError)

_NAMES = ("level", "question", "mechanism", "epsilon", "queries")
_RARE = ("within", "rho")
MOST_NESTED, LONGEST_RHO = 400, 400


@dataclass(frozen=True)
class PlanLine:
    """Questions of one kind that were asked of the whole table, or of all its parts at once.

    Parameters
    ----------
    level
        Depth in the tree at which they were asked.
    question, mechanism
        In words: ``"label counts of every leaf"``, ``"discrete Laplace"``.
    epsilon
        What they cost together, as a decimal number.
    queries
        How many equal questions share that cost.
    within
        Which cells: the number of a partition and of a part of it, and so on for a partition of
        that part; empty for all. No record is in two parts of one partition.
    rho
        The cost as zero-concentrated privacy, a fraction as a text. None if the line is of a plan, and
        not of what was released.

    Privacy
    -------
    Lines of the same cells add up (sequential composition). Of the parts of a partition the most
    expensive one counts (parallel composition).
    """

    level: int
    question: str
    mechanism: str
    epsilon: str
    queries: int = 1
    within: tuple[int, ...] = ()
    rho: str | None = None

    @property
    def cost(self) -> Epsilon:
        return amount_of(self.epsilon, "a line of the plan")

    @property
    def concentrated(self) -> Fraction:
        """The cost as zero-concentrated privacy, with what any question of that epsilon costs at most."""
        if self.rho is None:
            return self.cost.fraction**2 / (2 * self.queries)
        return _fraction(self.rho)

    def check(self) -> None:
        if len(self.within) % 2 or not 0 <= self.concentrated <= self.cost.fraction**2 / 2:
            raise ModelError(
                f"the line {self.question!r} of a certificate names the parts of partitions, and a "
                "rho of half its squared epsilon at most."
            )

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what a line does not have is left out."""
        document = {name: getattr(self, name) for name in _NAMES}
        if self.within:
            document["within"] = list(self.within)
        return document if self.rho is None else document | {"rho": self.rho}

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        if isinstance(document, dict):
            document = {"within": [], "rho": None, **document}
        line = _read.fields(document, (*_NAMES, *_RARE), "a line of the plan")
        nested = _read.items(line["within"], "the parts of a line", most=MOST_NESTED)
        rho = line["rho"]
        return cls(
            _read.integer(line["level"], 0, 2**31 - 1, "the level of a line of the plan"),
            _read.text(line["question"], "the question of a line of the plan"),
            _read.text(line["mechanism"], "the mechanism of a line of the plan"),
            _read.text(line["epsilon"], "the epsilon of a line of the plan"),
            _read.integer(line["queries"], 1, 2**31 - 1, "the number of queries of a line"),
            tuple(_read.integer(part, 1, 2**31 - 1, "a part of a line") for part in nested),
            None if rho is None else _read.text(rho, "the rho of a line"),
        )


def composed(lines: Iterable[PlanLine], amount: Callable[[PlanLine], Fraction]) -> Fraction:
    """What all lines cost a record at most: sums in sequence, and the maximum of disjoint parts."""
    return _composed([(line.within, amount(line)) for line in lines])


def _composed(amounts: Sequence[tuple[tuple[int, ...], Fraction]]) -> Fraction:
    total = Fraction(0)
    partitions: dict[int, dict[int, list[tuple[tuple[int, ...], Fraction]]]] = {}
    for within, amount in amounts:
        if within:
            partition, part, *rest = within
            partitions.setdefault(partition, {}).setdefault(part, []).append((tuple(rest), amount))
        else:
            total += amount
    return total + sum(max(map(_composed, parts.values())) for parts in partitions.values())


def amount_of(value: str, what: str) -> Epsilon:
    """An epsilon in a document."""
    try:
        return Epsilon.of(value)
    except EpsilonError as error:
        raise ModelError(f"{what}: {error}") from None


def _fraction(text: str) -> Fraction:
    if len(text) <= LONGEST_RHO and all(digits.isdecimal() for digits in text.split("/", 1)):
        try:
            return Fraction(text)
        except (ValueError, ZeroDivisionError):
            pass
    raise ModelError(f"the rho of a line is a fraction, not {text[:40]!r}.")
