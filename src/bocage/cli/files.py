"""Files that commands write: all of one or nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from bocage.errors import ModelError


def check_place(path: Path) -> None:
    """Refuse a place where nothing can be written, before anything is spent."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise click.ClickException(f"{path} cannot be written: its directory must exist and be writable.")


def check_new(path: Path) -> None:
    """Refuse a model's file that is there already, before anything is spent."""
    check_place(path)
    if path.exists():
        raise ModelError(f"{path} exists already. Choose another name for the model.")


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
