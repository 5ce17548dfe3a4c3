"""Files that commands write: all of one or nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


def check_place(path: Path) -> None:
    """Refuse a place where nothing can be written, before anything is spent."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise click.ClickException(
            f"{path} cannot be written: its directory must exist and be writable."
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` if nothing fails in between."""
    check_place(path)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as directory:
        written = Path(directory) / path.name
        try:
            yield written
            written.replace(path)
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
