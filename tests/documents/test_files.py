"""Files are read no further than allowed, and are there as a whole or not at all."""

from __future__ import annotations

import os

import pytest

from bocage.documents import files
from bocage.documents.files import Files, write_whole
from bocage.documents.reading import Limits
from bocage.errors import SurveyError

FILES = Files(SurveyError)


def test_what_is_written_is_read(tmp_path):
    FILES.write(tmp_path / "a", b"content")
    assert FILES.read(tmp_path / "a") == b"content"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_permissions_are_those_of_a_new_file_or_those_given(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "usual", b"")
        write_whole(tmp_path / "private", b"", 0o600)
    finally:
        os.umask(before)
    assert (tmp_path / "usual").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(SurveyError, match=r"the file .*a cannot be written: No space left"):
        FILES.write(tmp_path / "a", b"after", what="the file")
    assert (tmp_path / "a").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_that_cannot_be_read_is_refused_by_its_name(tmp_path):
    with pytest.raises(SurveyError, match=r"^the survey .*absent cannot be read: No such file"):
        FILES.read(tmp_path / "absent", what="the survey")
    (tmp_path / "long").write_bytes(b"123456789")
    with pytest.raises(SurveyError, match=r"^/.*long: it has more than 8 bytes\.$"):
        FILES.read(tmp_path / "long", Limits(bytes=8))
