"""Ed25519 keys: an owner signs a contribution, and everybody can see who did."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bocage.documents.reading import Limits
from bocage.errors import PartyError
from bocage.parties import documents, ed25519

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KEY = re.compile(r"[0-9a-f]{64}")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
LISTS = Limits(bytes=2**20)  # fifteen thousand keys, one a line


class Signer:
    """An owner's private key.

    Examples
    --------
    ::

        Signer.new().save("clinic.pem")
        signer = Signer.load("clinic.pem")
        print(signer.public)  # to be told to whoever merges
    """

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def new(cls) -> Self:
        """A key from the operating system's randomness."""
        _require()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - an extra
            Ed25519PrivateKey,
        )

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a key that `save` wrote, if nobody else can read it."""
        _require()
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - an extra
            Ed25519PrivateKey,
        )
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - an extra
            load_pem_private_key,
        )

        path = Path(path)
        content = documents.read(path, LISTS)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise PartyError(f"{path} is a private key that others can read: chmod 600 {path}.")
        try:
            key = load_pem_private_key(content, None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise PartyError(f"{path} is no private key without a password.") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise PartyError(f"{path} is a private key, but not of Ed25519.")
        return cls(key)

    def save(self, path: str | Path) -> None:
        """Write the private key to a new file that only its owner can read."""
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - an extra
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        pem = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        documents.write(Path(path), pem, mode=0o600, replace=False)

    @property
    def public(self) -> str:
        """The public key, in 64 hexadecimal digits."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, content: bytes) -> str:
        return self._key.sign(content).hex()


def verify(public: str, signature: str, content: bytes) -> bool:
    """Whether the owner of a public key signed these bytes, by the strict rule of `ed25519`."""
    _require()
    if not (_KEY.fullmatch(public) and _SIGNATURE.fullmatch(signature)):
        return False
    if not ed25519.is_taken(bytes.fromhex(public), bytes.fromhex(signature)):
        return False
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - an extra
        Ed25519PublicKey,
    )

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_keys(given: Iterable[str | Path]) -> frozenset[str]:
    """Public keys, each given in hexadecimal digits or as a file that lists some, one a line.

    Empty lines and what follows a ``#`` are skipped.
    """
    keys: set[str] = set()
    for item in given:
        if isinstance(item, str) and _KEY.fullmatch(item):
            keys.add(item)
            continue
        try:
            lines = documents.read(Path(item), LISTS).decode("ascii", "replace").splitlines()
        except PartyError as error:
            raise PartyError(f"{error} A public key has 64 hexadecimal digits.") from None
        listed = [key for line in lines if (key := line.partition("#")[0].strip())]
        if not listed or not all(map(_KEY.fullmatch, listed)):
            raise PartyError(f"{item} is no list of public keys of 64 hexadecimal digits each.")
        keys.update(listed)
    for key in keys:
        if not ed25519.is_key(bytes.fromhex(key)):
            raise PartyError(f"{key} is no public key of Ed25519: anybody could sign for it.")
    return frozenset(keys)


def _require() -> None:
    try:
        import cryptography  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise PartyError("signing needs an extra: pip install 'bocage[parties]'.") from None
