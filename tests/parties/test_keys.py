from __future__ import annotations

import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bocage.errors import PartyError
from bocage.parties import Signer
from bocage.parties.keys import public_keys, verify


def test_a_key_reads_back_and_only_its_owner_can_read_it(tmp_path):
    path = tmp_path / "key.pem"
    signer = Signer.new()
    signer.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Signer.load(path).public == signer.public
    with pytest.raises(PartyError, match="exists already"):
        Signer.new().save(path)
    path.chmod(0o644)
    with pytest.raises(PartyError, match="others can read: chmod 600"):
        Signer.load(path)


def test_a_signature_holds_for_its_key_and_its_bytes_only():
    signer = Signer.new()
    signature = signer.sign(b"content")
    assert verify(signer.public, signature, b"content")
    assert not verify(signer.public, signature, b"Content")
    assert not verify(Signer.new().public, signature, b"content")
    assert not verify(signer.public, "0" * 128, b"content")
    assert not verify("0" * 62, signature, b"content")
    assert not verify(signer.public, "no number", b"content")


def test_what_is_no_key_is_refused(tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    path.chmod(0o600)
    with pytest.raises(PartyError, match="no private key"):
        Signer.load(path)
    other = X25519PrivateKey.generate()
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(PartyError, match="not of Ed25519"):
        Signer.load(path)
    with pytest.raises(PartyError, match="cannot be read"):
        Signer.load(tmp_path / "none.pem")


def test_trusted_keys_are_given_as_digits_or_in_files(tmp_path):
    one, two, three = (Signer.new().public for _ in range(3))
    (tmp_path / "keys.txt").write_text(f"# owners\n{two}\n\n  {three}  # west\n")
    assert public_keys([one, tmp_path / "keys.txt"]) == {one, two, three}
    (tmp_path / "keys.txt").write_text("nothing\n")
    with pytest.raises(PartyError, match="no list of public keys"):
        public_keys([tmp_path / "keys.txt"])
    (tmp_path / "keys.txt").write_text("")
    with pytest.raises(PartyError, match="no list of public keys"):
        public_keys([tmp_path / "keys.txt"])
    with pytest.raises(PartyError, match="64 hexadecimal digits"):
        public_keys(["abc"])
