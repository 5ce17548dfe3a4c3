"""A table behind a service, asked exactly as a local one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, cast

from bocage.accounting import MemoryAccount
from bocage.client.executor import RemoteExecutor, amount
from bocage.client.jobs import Job, Progress, fetch, progress_bar
from bocage.client.transport import document
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import BocageError, LearnerError, PlanError
from bocage.learners import Learner
from bocage.learners.base import quiet
from bocage.learners.papers.batches import check_update
from bocage.model import Forest, Tree, to_dict
from bocage.plan import Predicate, to_text
from bocage.plan.documents import (
    CellSplit,
    HandleStep,
    PartitionStep,
    PartStep,
    SplitStep,
    TreeStep,
    WhereStep,
)
from bocage.plan.predicate import Value
from bocage.private import EpsilonLike, PrivatePartition, PrivateTable
from bocage.private.query import Place
from bocage.private.table import Described, HasLeaves, Released

MOST_LISTED = 1000  # models, the newest first
_NOT_HERE = MemoryAccount.of(Epsilon(LARGEST))  # charges and balances are the service's


class RemoteTable(PrivateTable):
    """Rows behind a service. Get one from :meth:`Connection.table`.

    It has the interface of :class:`bocage.PrivateTable`. `where`, `partition`, `preview`, `dry_run`
    and the plan of a learner are worked out here, from the public schema; questions go to the
    service, and a learner's `fit` runs there as a job.
    """

    _executor: RemoteExecutor

    def __init__(self, executor: RemoteExecutor, place: Place) -> None:
        super().__init__(executor, _NOT_HERE, place)

    def where(self, predicate: Predicate | str) -> RemoteTable:
        place = _place(super().where(predicate))
        text = predicate if isinstance(predicate, str) else to_text(predicate)
        return RemoteTable(self._executor.after(WhereStep(predicate=text)), place)

    def partition(
        self,
        by: str | HasLeaves,
        *,
        edges: Sequence[Value] | None = None,
        values: Sequence[str] | None = None,
    ) -> RemotePartition:
        place = _place(super().partition(by, edges=edges, values=values))
        if isinstance(by, str):
            return RemotePartition(self._executor.after(_by_column(by, edges, values)), place)
        if not isinstance(by, Tree):
            raise PlanError("a remote table is parted by a column or by a bocage.model.Tree.")
        return RemotePartition(self._executor.after(TreeStep(document=to_dict(by))), place)

    def learn(
        self,
        learner: Described,
        fit: Callable[[PrivateTable, EpsilonLike, Progress], Released],  # noqa: ARG002 - runs there
        epsilon: EpsilonLike,
        progress: Progress,
        update: Released | None = None,
    ) -> Released:
        """Run a learner at the service, with a progress bar unless `progress` is given.

        An interrupt (Ctrl-C) leaves the job running: it is paid for. See :meth:`Job.wait`.

        Privacy
        -------
        The service charges `epsilon` before the job begins, and runs the same learner.
        """
        job = self.start(cast("Learner", learner), epsilon, cast("Forest | None", update))
        if progress is not quiet:
            return cast("Released", job.wait(progress))
        with progress_bar(f"{learner.name} on {self._executor.table}") as show:
            return cast("Released", job.wait(show))

    def start(self, learner: Learner, epsilon: EpsilonLike, update: Forest | None = None) -> Job:
        """Start a learner at the service and do not wait: the job returned can be waited for.

        With `update`, a forest that was grown at the service, this batch is added to it.
        """
        # Refused in the same words as there, and sooner.
        if update is None:
            learner.plan(self.schema, epsilon)
        else:
            check_update(learner, update, self)
        body = {
            "learner": learner.name,
            "parameters": learner.parameters(),
            "epsilon": str(Epsilon.of(epsilon)),
            "plan": self._executor.plan,
            "update": None if update is None else self._id_of(update),
        }
        accepted = self._executor.link.post("tables", self._executor.table, "learn", body=body)
        return Job(self._executor.link, document(accepted)["status"])

    def _id_of(self, forest: Forest) -> str:
        """The service vouches for what it adds up: it takes a forest of its own, by its id."""
        wanted = to_dict(forest)
        for listed in self._executor.link.get("models", limit=MOST_LISTED):
            if listed["learner"] == forest.certificate.learner:
                model = fetch(self._executor.link, listed["id"])
                if to_dict(model) == wanted:
                    return str(listed["id"])
        raise LearnerError(
            "the forest is not among this analyst's models at the service, and no other is updated "
            "there. Grow the first batch there too. Nothing was charged."
        )

    def reserve(self, *_: object, **__: object) -> NoReturn:
        """Refused: what a learner reserves is spent beside the rows."""
        raise PlanError(
            "a remote table cannot be read from here. A learner's fit runs at the service; own "
            "algorithms ask questions."
        )

    def once(self, *_: object, **__: object) -> NoReturn:
        """Refused: what is released under a key is made beside the rows."""
        self.reserve()

    def spent(self) -> Epsilon:
        return amount(self._executor.balance()["spent"])

    def remaining(self) -> Epsilon:
        return amount(self._executor.balance()["remaining"])

    def epsilon_for(self, plus_minus: float, method: str, *args: object) -> Epsilon:
        return self.preview().epsilon_for(plus_minus, method, *args)

    def __repr__(self) -> str:
        at = f"RemoteTable {self._executor.table!r} at {self._executor.link.url}"
        try:
            left = self._executor.balance(patience=0)["remaining"]
        except BocageError:
            return f"<{at}>"
        return f"<{at}, epsilon {left} left>"


class RemotePartition(PrivatePartition):
    """Parts of a table behind a service, with the interface of :class:`bocage.PrivatePartition`."""

    _executor: RemoteExecutor

    def __init__(self, executor: RemoteExecutor, place: Place) -> None:
        super().__init__(executor, _NOT_HERE, place)

    def __getitem__(self, key: str) -> RemoteTable:
        place = _place(super().__getitem__(key))
        return RemoteTable(self._executor.after(PartStep(key=key)), place)

    def partition(
        self,
        by: str,
        *,
        edges: Sequence[Value] | None = None,
        values: Sequence[str] | None = None,
    ) -> RemotePartition:
        place = _place(super().partition(by, edges=edges, values=values))
        return RemotePartition(self._executor.after(_by_column(by, edges, values)), place)

    def split(self, splits: Mapping[int, tuple[str, int | None]]) -> RemotePartition:
        place = _place(super().split(splits))
        cells = [
            CellSplit(cell=cell, column=column, threshold=threshold) for cell, (column, threshold) in splits.items()
        ]
        return RemotePartition(self._executor.after(SplitStep(splits=cells)), place)

    def keep(self) -> str:
        """Have the service keep this partition; the handle returned finds it again for days.

        See :meth:`Connection.partition`. Its parts go on costing their maximum.
        """
        kept = self._executor.link.post(
            "tables", self._executor.table, "partitions", body={"plan": self._executor.plan}
        )
        return str(document(kept)["handle"])

    def kept(self, handle: str) -> RemotePartition:
        """The same partition, asked by its handle instead of its steps."""
        executor = replace(self._executor, steps=(HandleStep(handle=handle),))
        return RemotePartition(executor, self._place)

    def __repr__(self) -> str:
        return f"<RemotePartition of {self._executor.table!r} into {len(self)} parts>"


def _place(local: PrivateTable | PrivatePartition) -> Place:
    """The rows and cells that a local table would stand for: remote ones are told apart alike."""
    return local._place  # noqa: SLF001 - of a table that was made for this


def _by_column(by: str, edges: Sequence[Value] | None, values: Sequence[str] | None) -> PartitionStep:
    return PartitionStep(
        by=by,
        edges=None if edges is None else [_plain(edge) for edge in edges],
        values=None if values is None else list(values),
    )


def _plain(edge: Value) -> int | float | str:
    return edge if isinstance(edge, int | float | str) else str(edge)
