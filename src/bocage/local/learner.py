"""From distorted records to a released tree, with a certificate of what the distortion guarantees."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.local.discrete import Clear
from bocage.local.intervals import FewRecords, few_records, number_of_intervals
from bocage.local.privacy import Privacy, of_record
from bocage.local.records import Records
from bocage.local.survey import Survey
from bocage.local.tree_parameters import TreeParameters
from bocage.model import Certificate, PlanLine, Tree
from bocage.schema import Categorical, Numeric

LOCAL = "local"  # the certificate's word for: whatever one person's record was


@dataclass(frozen=True)
class SurveyTree(TreeParameters):
    """A decision tree from distorted records (Agrawal & Srikant 2000, section 4).

    Parameters
    ----------
    algorithm
        ``"byclass"`` reconstructs the distribution of every attribute for the records of each label,
        ``"local"`` does so again at every node, ``"global"`` for all records together;
        ``"randomized"`` takes the answers for the truth, and ``"original"`` is the same tree from
        records in the clear.
    intervals
        How many intervals a numeric attribute has. None: 100 records in each, but 10 to 100.
    stop
        When a reconstruction ends: ``"chi_square"``, the paper's rule, or ``"convergence"``.
    small
        Local reconstructs at nodes with so many records at least.
    fewest
        A node with fewer records is not split.
    most_depth
        Levels of the tree.
    prune
        Whether a split must be worth the bits that describe it (Mehta, Agrawal & Rissanen 1995).
    attributes
        The columns that may be tested; None for all.

    Privacy
    -------
    Post-processing: whatever is done here, a person's protection is that of the record that they
    sent. The certificate sums it up, and claims nothing if one answer, the label included, was sent
    without local differential privacy.

    Examples
    --------
    ::

        records = read_records(survey, "answers.parquet")
        tree = SurveyTree("byclass").fit(records)
        tree.save("model.json")
    """

    attributes: tuple[str, ...] | None = None

    def fit(self, records: Records) -> Tree:
        """Grow a tree. Its predictions are for records that are not distorted."""
        from bocage.local.answers import Answers  # noqa: PLC0415 - who answers a survey compiles nothing
        from bocage.local.trees import grow  # noqa: PLC0415 - likewise

        survey = records.survey
        label = survey.schema.label
        if label is None:
            raise LearnerError(f"survey {survey.schema.name!r} asks for no label, so nothing can be predicted.")
        chosen = self._chosen(survey)
        self._check(survey, chosen, len(records))
        matrix = np.empty((len(records), len(chosen)), np.int32)
        for at, name in enumerate(chosen):
            matrix[:, at] = records.codes[name]
        columns = [(survey.schema[name], survey.distortions[name]) for name in chosen]
        labels = np.ascontiguousarray(records.codes[label.name], np.int64)
        grown = grow(Answers(columns, matrix, labels, label.cells, self))
        names = [attribute.name for attribute in survey.schema.attributes]
        grown.column = [c if c < 0 else names.index(chosen[c]) for c in grown.column]
        grown.counts = _true_counts(survey, label, grown.counts)
        return grown.freeze(survey.schema, certificate(survey, self.algorithm))

    def _chosen(self, survey: Survey) -> list[str]:
        asked = [attribute.name for attribute in survey.schema.attributes]
        chosen = asked if self.attributes is None else list(self.attributes)
        if not chosen or len(set(chosen)) < len(chosen):
            raise LearnerError("attributes are one or more columns, each named once.")
        for name in chosen:
            if name not in asked:
                raise LearnerError(
                    f"survey {survey.schema.name!r} does not ask for the attribute {name!r:.60}. It "
                    f"asks for {', '.join(map(repr, asked))}."
                )
        return chosen

    def _check(self, survey: Survey, chosen: list[str], records: int) -> None:
        if not records:
            raise LearnerError("there are no records to learn from.")
        if self.algorithm == "original":
            for name in [*chosen, survey.schema.label.name]:  # type: ignore[union-attr] # it has one
                if not isinstance(survey.distortions[name], Clear):
                    raise LearnerError(
                        f"original takes records in the clear, but the answers to {name!r} were "
                        "distorted. Choose byclass, or randomized to take them for the truth."
                    )
            return
        intervals = self.intervals or number_of_intervals(records)
        numeric = any(isinstance(survey.schema[name], Numeric) for name in chosen)
        words = few_records(records, intervals)
        if numeric and words and self.algorithm != "randomized":
            warnings.warn(words, FewRecords, stacklevel=3)


def certificate(survey: Survey, algorithm: str) -> Certificate:
    """What people who answered this survey are guaranteed, whatever is made of their records."""
    answers = _promises(survey)
    whole = of_record(survey.schema.name, answers)
    lines = tuple(
        PlanLine(0, f"answer to {answer.name!r}", answer.kind, str(answer.epsilon))
        for answer in answers
        if answer.epsilon is not None
    )
    return Certificate(
        learner="SurveyTree",
        variant=algorithm,
        epsilon=None if whole.epsilon is None else str(Epsilon.of(whole.epsilon)),
        adjacency=LOCAL,
        table=survey.schema.name,
        schema=survey.schema.fingerprint,
        plan=lines,
        mechanisms=tuple(sorted({answer.kind for answer in answers})),
        notes=(
            *(answer.words for answer in answers),
            whole.words,
            f"Survey {survey.fingerprint}, edition {survey.edition}.",
        ),
    )


@lru_cache(maxsize=64)
def _promises(survey: Survey) -> tuple[Privacy, ...]:
    """What each answer is promised: exact arithmetic, which is worth remembering."""
    return tuple(survey.privacy())


def _true_counts(survey: Survey, label: Categorical, counts: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Counts of true labels, estimated where people did not send their label as it is."""
    distortion = survey.distortions[label.name]
    if isinstance(distortion, Clear):
        return counts
    kernel = distortion.kernel(label)  # true x sent
    true = np.linalg.solve(kernel.T, np.array(counts, np.float64).T).T
    return list(np.rint(np.maximum(true, 0)).astype(np.int64))
