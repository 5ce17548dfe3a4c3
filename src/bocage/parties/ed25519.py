"""Which keys and signatures of Ed25519 are taken: those of RFC 8032 in its strict reading.

Libraries differ where the standard leaves room. A key of small order signs everything; a key with a
part of small order, a point that is written in two ways, or a scalar of L and more lets one
signature hold here and not there. None of them comes out of an honest signer, so all are refused:

* the key is the one encoding of a point of the group of prime order L, and not the neutral element;
* R is the one encoding of a point that is not of small order;
* S is below L.

The library then checks ``[S]B = R + [k]A`` without a cofactor. ZIP 215 accepts more, so that many
can be verified at once; nobody here needs that.

Everything here is public: no secret decides how long it takes.
"""

from __future__ import annotations

from functools import lru_cache

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, P) % P
_ROOT = pow(2, (P - 1) // 4, P)  # of -1
_SIGN = 2**255
Point = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z
NEUTRAL: Point = (0, 1, 1, 0)


def is_taken(public: bytes, signature: bytes) -> bool:
    """Whether a key and a signature are of the form that is taken; not whether it holds."""
    if len(public) != 32 or len(signature) != 64 or not is_key(public):
        return False
    if int.from_bytes(signature[32:], "little") >= L:
        return False
    point = decoded(signature[:32])
    return point is not None and not _is_neutral(_doubled(_doubled(_doubled(point))))


@lru_cache(maxsize=2**12)
def is_key(public: bytes) -> bool:
    """Whether it is the one encoding of a point of order L."""
    point = decoded(public)
    return point is not None and not _is_neutral(point) and _is_neutral(_times_order(point))


def decoded(text: bytes) -> Point | None:
    """The point with this encoding; None if there is none, or another one is its encoding."""
    whole = int.from_bytes(text, "little")
    sign, y = whole & _SIGN, whole & (_SIGN - 1)
    if len(text) != 32 or y >= P:
        return None
    square = y * y % P
    above, below = (square - 1) % P, (_D * square + 1) % P
    # The root of above / below, if it has one: RFC 8032, 5.1.3.
    x = above * pow(below, 3, P) * pow(above * pow(below, 7, P), (P - 5) // 8, P) % P
    if below * x * x % P != above:
        x = x * _ROOT % P
    if below * x * x % P != above or (x == 0 and sign):
        return None
    if bool(x & 1) != bool(sign):
        x = P - x
    return x, y, 1, x * y % P


def _is_neutral(point: Point) -> bool:
    x, y, z, _ = point
    return x == 0 and y == z


def _times_order(point: Point) -> Point:
    multiple = point
    for bit in bin(L)[3:]:
        multiple = _doubled(multiple)
        if bit == "1":
            multiple = _sum(multiple, point)
    return multiple


def _doubled(point: Point) -> Point:
    x, y, z, _ = point
    a, b = x * x, y * y
    h = a + b
    e, g = h - (x + y) ** 2, a - b
    f = 2 * z * z + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def _sum(one: Point, other: Point) -> Point:
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)
    c, d = 2 * _D * t1 * t2, 2 * z1 * z2
    e, f, g, h = b - a, d - c, d + c, b + a
    e, f, g, h = e % P, f % P, g % P, h % P
    return e * f % P, g * h % P, f * g % P, e * h % P
