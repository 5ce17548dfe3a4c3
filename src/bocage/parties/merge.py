"""Anyone adds up contributions: all of those given, or none."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from bocage.errors import PartyError
from bocage.learners.base import label_of
from bocage.model import Forest
from bocage.parties import documents
from bocage.parties.certificate import certificate_of
from bocage.parties.contribution import Contribution
from bocage.parties.keys import public_keys
from bocage.parties.plan import MOST_CONTRIBUTIONS, PartyPlan, Share
from bocage.private import IntArray

Given = TypeVar("Given")
Done = TypeVar("Done")
MOST_THREADS = 4  # reading and hashing let go of the interpreter, the rest does not


def merge(
    plan: PartyPlan,
    contributions: Iterable[Contribution | str | Path],
    *,
    trust: Iterable[str | Path] | None = None,
) -> Forest:
    """Add up contributions to a plan and make a model of them.

    Parameters
    ----------
    plan
        What all of them follow.
    contributions
        Any of them, at least one, as files or in memory. A few are read at a time, so that memory
        does not grow with their number.
    trust
        Public keys, or files that list them: then no contribution by another key is accepted.

    Raises
    ------
    PartyError
        Names the contribution and the reason. Nothing is merged then, not even the good ones.

    Privacy
    -------
    Adding up released counts is post-processing and costs nothing. The certificate states what each
    person paid: the plan's epsilon where the owners hold different persons, and the sum over the
    parties where they hold columns of the same persons.
    """
    trusted = None if trust is None else public_keys(trust)
    sums = {share.party: np.zeros(_size(plan, share), np.int64) for share in plan.shares}
    merged = _Merged()
    for name, read, share in in_order(partial(_examined, plan, trusted), contributions):
        with documents.about(name):
            merged.add(read, name)
        sums[share.party] += read.values
    if not merged.parties:
        raise PartyError("there is no contribution to merge.")
    certificate = certificate_of(plan, merged.parties, trusted=trusted is not None)
    trees = [
        tree.freeze(plan.schema, counts, certificate)
        for share in plan.shares
        if not plan.vertical or share.party in merged.parties
        for tree, counts in zip(share.trees, _by_tree(plan, share, sums[share.party]), strict=True)
    ]
    return Forest(tuple(trees), "counts", certificate)


def in_order(work: Callable[[Given], Done], given: Iterable[Given]) -> Iterator[Done]:
    """What `work` makes of each of them; the first failure, in their order, ends it.

    No more than two results for each thread are waiting at any time.
    """
    threads = min(MOST_THREADS, os.cpu_count() or 1)
    waiting: deque[Future[Done]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="bocage-merge")
    try:
        for item in given:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _examined(
    plan: PartyPlan, trusted: frozenset[str] | None, source: Contribution | str | Path
) -> tuple[str, Contribution, Share]:
    """A contribution that is what it says and fits the plan, or a refusal that names it."""
    name = f"contribution of {source.party!r}" if isinstance(source, Contribution) else str(source)
    with documents.about(name):
        read = source if isinstance(source, Contribution) else _read(source, plan, trusted)
        share = _check_header(read, plan, trusted)
        _check_counts(read, plan, share)
        if not read.is_authentic():
            raise PartyError(f"its signature is forged: the key of {read.party!r} did not sign it.")
    return name, read, share


@dataclass
class _Merged:
    """Who is in already: nobody comes twice, under whatever name."""

    parties: dict[str, int | None] = field(default_factory=dict)  # ledger entries
    seen: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, new: Contribution, name: str) -> None:
        for what, value in (("party", new.party), ("key", new.key), ("nonce", new.nonce)):
            before = self.seen.get((what, value))
            if before is not None:
                raise PartyError(f"the {what} {value!r} is in {before} already. A party contributes once.")
        if len(self.parties) == MOST_CONTRIBUTIONS:
            raise PartyError(f"a model has at most {MOST_CONTRIBUTIONS} contributions.")
        for what, value in (("party", new.party), ("key", new.key), ("nonce", new.nonce)):
            self.seen[what, value] = name
        self.parties[new.party] = new.entry


def _read(source: str | Path, plan: PartyPlan, trusted: frozenset[str] | None) -> Contribution:
    """A file whose counts are read only if its header fits the plan."""
    expected = partial(_check_header, plan=plan, trusted=trusted)
    return Contribution.from_bytes(documents.read(Path(source)), expected)


def _check_header(read: Contribution, plan: PartyPlan, trusted: frozenset[str] | None) -> Share:
    """The share that a contribution is for, if it fits the plan in every respect."""
    share = plan.share_of(read.party)
    if read.schema != plan.schema_of(share).fingerprint:
        raise PartyError("it was made with another schema, or another version of it.")
    if read.plan != plan.hash:
        raise PartyError(f"it is for another plan, {read.plan}, not for {plan.hash}.")
    if read.epsilon != str(share.epsilon):
        raise PartyError(f"it cost epsilon={read.epsilon:.40}, but the plan needs {share.epsilon}.")
    if len(read.shapes) != len(share.trees):
        kind = "lacks trees" if len(read.shapes) < len(share.trees) else "has extra trees"
        raise PartyError(f"it {kind}: {len(read.shapes)}, and the plan has {len(share.trees)}.")
    labels = label_of(plan.schema).cells
    if read.shapes != tuple((leaves, labels) for leaves in share.leaves):
        raise PartyError("its trees do not have the leaves and labels of the plan.")
    if trusted is not None and read.key not in trusted:
        raise PartyError(f"its key {read.key} of {read.party!r} is not among the trusted.")
    return share


def _check_counts(read: Contribution, plan: PartyPlan, share: Share) -> None:
    """Refuse counts that no table under the row cap can have, noise included.

    Noise breaks one of these limits with a probability below exp(-60) for each counter and tree.
    """
    rows, noise = plan.schema.rows_bound, plan.noise_bound(share)
    if read.values.min() < -noise or read.values.max() > rows + noise:
        raise PartyError(f"a count is absurd: beyond {rows} rows and any noise of the plan.")
    for counts in read.counts():
        slack = plan.total_bound(share, counts.size)
        if not -slack <= int(counts.sum()) <= rows + slack:
            raise PartyError(f"the counts of a tree are absurd: together beyond {rows} rows.")


def _by_tree(plan: PartyPlan, share: Share, values: IntArray) -> list[IntArray]:
    """The counts of each tree, of shape (leaves, labels)."""
    starts = np.cumsum(share.leaves)[:-1]
    return np.split(values.reshape(-1, label_of(plan.schema).cells), starts)


def _size(plan: PartyPlan, share: Share) -> int:
    return sum(share.leaves) * label_of(plan.schema).cells
