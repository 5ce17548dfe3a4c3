"""A progress bar for a job, where there is a terminal or a notebook to show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def bar(words: str) -> Iterator[Callable[[int, int], None]]:
    """Shows levels done; what it yields is told of them."""
    columns = TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(words, total=None)

        def told(done: int, of: int) -> None:
            shown.update(task, completed=done, total=of)

        yield told
