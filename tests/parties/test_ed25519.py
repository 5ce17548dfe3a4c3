"""No key that signs for everybody, and one way to write a signature."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PartyError
from bocage.parties import Signer, ed25519
from bocage.parties.ed25519 import L, P, decoded
from bocage.parties.keys import public_keys, verify

SIGN = 2**255


def encoded(point):
    x, y, z, _ = point
    inverse = pow(z, -1, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


def times(number, point):
    found = ed25519.NEUTRAL
    for bit in f"{number:b}":
        found = ed25519._sum(found, found)
        if bit == "1":
            found = ed25519._sum(found, point)
    return found


BASE = decoded((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def small_order():
    """The eight points of the torsion: what L leaves of points that somebody finds."""
    found = set()
    for y in range(2, 200):
        point = decoded(y.to_bytes(32, "little"))
        if point is not None:
            found.add(encoded(times(L, point)))
    return sorted(found)


SMALL = small_order()


def all_encodings(canonical):
    """Every string of 32 bytes that a lenient reader takes for this point."""
    whole = int.from_bytes(canonical, "little")
    y = whole % SIGN
    ways = {whole} | ({whole ^ SIGN} if y in {1, P - 1} else set())  # x = 0 has no sign
    ways |= {way + P for way in list(ways) if way % SIGN + P < SIGN}
    return {way.to_bytes(32, "little") for way in ways}


LENIENT = sorted(set.union(*map(all_encodings, SMALL)))


def test_there_are_eight_points_of_small_order_with_fourteen_encodings():
    assert len(SMALL) == 8
    assert len(LENIENT) == 14
    neutral = encoded(ed25519.NEUTRAL)
    assert all(encoded(times(8, decoded(one))) == neutral for one in SMALL)
    assert encoded(times(L, BASE)) == neutral


@pytest.mark.parametrize("key", LENIENT, ids=bytes.hex)
def test_keys_of_small_order_sign_nothing(key):
    assert not ed25519.is_key(key)
    with pytest.raises(PartyError, match="no public key of Ed25519"):
        public_keys([key.hex()])
    for r in LENIENT:
        for s in (0, L):
            assert not verify(key.hex(), (r + s.to_bytes(32, "little")).hex(), b"anything")


@given(st.integers(1, L - 1), st.sampled_from(SMALL))
def test_a_key_is_taken_if_and_only_if_it_has_no_part_of_small_order(secret, torsion):
    mixed = ed25519._sum(times(secret, BASE), decoded(torsion))
    assert ed25519.is_key(encoded(mixed)) == (torsion == encoded(ed25519.NEUTRAL))


class Hostile:
    """Signs with whatever point R and key it likes."""

    def __init__(self, torsion=ed25519.NEUTRAL):
        self.secret = 1234567891011
        self.public = encoded(ed25519._sum(times(self.secret, BASE), torsion))

    def signature(self, content, nonce, torsion=ed25519.NEUTRAL):
        r = encoded(ed25519._sum(times(nonce, BASE), torsion))
        hashed = hashlib.sha512(r + self.public + content).digest()
        k = int.from_bytes(hashed, "little") % L
        return r + ((nonce + k * self.secret) % L).to_bytes(32, "little")


def test_what_the_hostile_signer_does_honestly_is_taken():
    """So that the refusals below are not for another reason."""
    own = Hostile()
    for n in range(5):
        content = b"%d" % n
        assert verify(own.public.hex(), own.signature(content, 77 + n).hex(), content)


@pytest.mark.parametrize("torsion", SMALL, ids=bytes.hex)
def test_a_signature_whose_r_has_a_part_of_small_order_is_refused(torsion):
    own, point = Hostile(), decoded(torsion)
    for n in range(8):
        content = b"%d" % n
        r_is_small = own.signature(content, 0, point)
        assert not verify(own.public.hex(), r_is_small.hex(), content)
        mixed = own.signature(content, 5 + n, point)
        assert verify(own.public.hex(), mixed.hex(), content) == (torsion == encoded(ed25519.NEUTRAL))


@pytest.mark.parametrize("torsion", [one for one in SMALL if one != encoded(ed25519.NEUTRAL)])
def test_a_key_with_a_part_of_small_order_signs_nothing(torsion):
    """For one content of eight the equation holds without a cofactor as well."""
    mixed = Hostile(decoded(torsion))
    for n in range(32):
        content = b"%d" % n
        signature = mixed.signature(content, 9)
        assert not verify(mixed.public.hex(), signature.hex(), content)


@given(st.binary(max_size=9), st.integers(0, 15))
def test_a_signature_has_one_scalar(content, times_order):
    signer = Signer.new()
    signature = bytes.fromhex(signer.sign(content))
    s = int.from_bytes(signature[32:], "little") + times_order * L
    if s < 2**256:
        other = signature[:32] + s.to_bytes(32, "little")
        assert verify(signer.public, other.hex(), content) == (times_order == 0)


@pytest.mark.parametrize("y", [*range(2, 19)])
def test_a_point_has_one_encoding(y):
    """There are 19 numbers from p to 2**255 - 1: each would be another way to write y - p."""
    for sign in (0, SIGN):
        assert decoded((y + P + sign).to_bytes(32, "little")) is None


def test_digits_are_written_in_one_way():
    signer = Signer.new()
    signature = signer.sign(b"content")
    assert verify(signer.public, signature, b"content")
    for change in (str.upper, lambda text: text + " ", lambda text: f"{text[:2]} {text[2:]}"):
        if change(signer.public) != signer.public:
            assert not verify(change(signer.public), signature, b"content")
        if change(signature) != signature:
            assert not verify(signer.public, change(signature), b"content")
    assert not verify(signer.public, signature[:-2], b"content")
    assert not verify(signer.public, signature + "00", b"content")


@given(st.binary(min_size=32, max_size=32))
def test_what_is_decoded_is_on_the_curve_and_encodes_to_the_same(text):
    point = decoded(text)
    if point is not None:
        x, y, _, _ = point
        assert (-x * x + y * y - 1 - ed25519._D * x * x * y * y) % P == 0
        assert encoded(point) == text
