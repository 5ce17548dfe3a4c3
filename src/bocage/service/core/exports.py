"""Signed exports of a ledger: whoever holds the public key sees that the owner wrote every line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from bocage.accounting import export_head
from bocage.errors import LedgerError, PartyError
from bocage.parties import Signer, documents
from bocage.parties.keys import verify

FORMAT, VERSION = "bocage.ledger-signature", 1
_KEYS = {"format", "version", "entries", "head", "sha256", "key", "signature"}


def signature_file(export: Path) -> Path:
    return export.with_name(export.name + ".sig")


def sign_export(export: Path, signer: Signer) -> Path:
    """Write the signature of an export beside it."""
    content = {**_content(export), "key": signer.public}
    signed = {**content, "signature": signer.sign(documents.canonical(content))}
    file = signature_file(export)
    documents.write(file, documents.canonical(signed) + b"\n", replace=False)
    return file


def check_signature(export: Path, public: str | None = None) -> str:
    """The public key that signed an export; refuses another file, another key or a forgery."""
    try:
        document = documents.parse(documents.read(signature_file(export)))
        documents.head(document, FORMAT, VERSION)
    except PartyError as error:
        raise LedgerError(f"{signature_file(export)}: {error}") from None
    texts = {name: value for name, value in document.items() if isinstance(value, str)}
    content = {name: value for name, value in document.items() if name != "signature"}
    if set(document) != _KEYS or not {"key", "signature", "sha256", "head"} <= set(texts):
        raise LedgerError(f"{signature_file(export)} is no signature of an export.")
    if content != {**_content(export), "key": texts["key"]}:
        raise LedgerError(f"{export} is not the file that was signed.")
    if not verify(texts["key"], texts["signature"], documents.canonical(content)):
        raise LedgerError(f"the signature of {export} is forged.")
    if public is not None and texts["key"] != public:
        raise LedgerError(f"{export} is signed by {texts['key']}, not by {public}.")
    return texts["key"]


def _content(export: Path) -> dict[str, Any]:
    head = export_head(export)
    with export.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "format": FORMAT,
        "version": VERSION,
        "entries": head.number,
        "head": head.hash,
        "sha256": digest,
    }
