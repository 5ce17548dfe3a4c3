"""Equal documents have equal bytes, whatever the order in which they were made."""

from __future__ import annotations

from bocage.documents.writing import canonical, canonical_text, digest


def test_canonical_json_is_sorted_ascii_without_blanks():
    document = {"b": [1, None, "é\U0001f600"], "a": {"d": True, "c": 0.5}}
    text = '{"a":{"c":0.5,"d":true},"b":[1,null,"\\u00e9\\ud83d\\ude00"]}'
    assert canonical_text(document) == text
    assert canonical(document) == text.encode()


def test_the_digest_is_sha_256():
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest(b"") == digest(memoryview(b"")) == empty
