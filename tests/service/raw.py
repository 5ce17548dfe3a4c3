"""Requests as bytes, and what a server may say to them. Any server: nothing here knows which one.

``raw.py PORT KEY`` runs them against a server on this machine and prints what it does otherwise.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from dataclasses import dataclass

PATH = b"/v1/tables/people/query"
# Nothing is answered but a refusal, and the connection ends: what follows is not read as a request.
REFUSED = "refused"
BAD = {400, 408, 411, 413, 414, 417, 431, 501, 505}


@dataclass(frozen=True)
class Said:
    """What a server said to one connection."""

    statuses: tuple[int, ...]
    ended: bool
    text: bytes

    def is_as(self, expected) -> bool:
        if expected == REFUSED:
            return self.ended and len(self.statuses) <= 1 and set(self.statuses) <= BAD
        return self.statuses == expected


def talk(port: int, *pieces: bytes, seconds: float = 3.0, gap: float = 0.0) -> Said:
    """Send the pieces, then listen until the server ends the connection or says nothing more."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        text, ended = b"", False
        try:
            for piece in pieces:
                line.sendall(piece)
                time.sleep(gap)
        except OSError:
            ended = True  # it hung up while we were still talking
        line.settimeout(seconds)
        try:
            while more := line.recv(2**16):
                text += more
            ended = True
        except TimeoutError:
            pass
        except OSError:
            ended = True
    found = tuple(int(one) for one in re.findall(rb"HTTP/1\.[01] (\d{3})", text))
    return Said(found, ended, text)


def requests(key: str) -> dict[str, tuple[tuple[bytes, ...], object]]:
    """By name: the pieces that are sent one after the other, and what is expected."""
    body = json.dumps({"ask": {"kind": "noisy_count", "epsilon": "0.001"}, "mode": "preview"})
    b, n = body.encode(), len(body)
    host, typed = b"host: x\r\n", b"content-type: application/json\r\n"
    auth = b"authorization: Bearer " + key.encode() + b"\r\n"
    q = b"POST " + PATH + b" HTTP/1.1\r\n" + host + typed + auth
    bare = b"POST " + PATH + b" HTTP/1.1\r\n" + host + typed
    me, health = b"GET /v1/me HTTP/1.1\r\n" + host, b"GET /health HTTP/1.1\r\n" + host
    g, length = me + auth + b"\r\n", b"content-length: %d\r\n" % n
    te, end = b"transfer-encoding: chunked\r\n", b"\r\n"
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (n, b)
    open_chunk = b"%x\r\n%s\r\n0\r\n" % (n, b)
    ws = b"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\n"
    h2c = b"upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"
    smuggled = b"0\r\n\r\nGET /health HTTP/1.1\r\nhost: x\r\n\r\n"
    whole = q + length + end + b
    table: dict[str, tuple[object, object]] = {
        "plain": (whole, (200,)),
        "pipelined": (whole * 5, (200,) * 5),
        "pipelined GET": (g * 20, (200,) * 20),
        "chunked": (q + te + end + chunk, (200,)),
        "chunks of one byte": (
            q + te + end + b"".join(b"1\r\n%c\r\n" % c for c in b) + b"0\r\n\r\n", (200,)),
        "length, then chunked": (q + length + te + end + chunk, REFUSED),
        "chunked, then length": (q + te + length + end + chunk, REFUSED),
        "CL.TE": (q + b"content-length: 6\r\n" + te + end + smuggled, REFUSED),
        "TE.CL": (
            q + b"content-length: 4\r\n" + te + end + b"5c\r\nGPOST / HTTP/1.1\r\n\r\n" + b"x" * 70 + smuggled,
            REFUSED,
        ),
        "xchunked": (q + b"transfer-encoding: xchunked\r\n\r\n" + chunk, REFUSED),
        "identity": (q + length + b"transfer-encoding: identity\r\n\r\n" + b, REFUSED),
        "chunked, identity": (q + b"transfer-encoding: chunked, identity\r\n\r\n" + chunk, REFUSED),
        "gzip, chunked, identity": (q + b"transfer-encoding: gzip, chunked, identity\r\n\r\n" + chunk, REFUSED),
        "chunked twice": (q + te + te + end + chunk, REFUSED),
        "blank before a colon": (q + length + b"transfer-encoding : chunked\r\n\r\n" + b, REFUSED),
        "blank in a length": (q + b"content-length : %d\r\n\r\n" % n + b, REFUSED),
        "folded encoding": (q + b"transfer-encoding:\r\n chunked\r\n\r\n" + chunk, REFUSED),
        "folded header": (me + b"x-a: 1\r\n more\r\n" + auth + end, REFUSED),
        "folded key": (me + b"authorization: Bearer\r\n " + key.encode() + b"\r\n\r\n", REFUSED),
        "the same length twice": (q + length * 2 + end + b, REFUSED),
        "two lengths": (q + length + b"content-length: 3\r\n\r\n" + b, REFUSED),
        "a list of lengths": (q + b"content-length: %d, %d\r\n\r\n" % (n, n) + b, REFUSED),
        "length +n": (q + b"content-length: +%d\r\n\r\n" % n + b, REFUSED),
        "length -1": (q + b"content-length: -1\r\n\r\n" + b, REFUSED),
        "length 0x10": (q + b"content-length: 0x10\r\n\r\n" + b, REFUSED),
        "length 1_0": (q + b"content-length: 1_0\r\n\r\n" + b, REFUSED),
        "length 2^64": (q + b"content-length: 18446744073709551617\r\n\r\n" + b, REFUSED),
        "a length of a gigabyte": (q + b"content-length: 1000000000\r\n\r\n", REFUSED),
        "bare LF": ((q + length + end).replace(b"\r\n", b"\n") + b, REFUSED),
        "bare CR": ((q + length + end).replace(b"\r\n", b"\r") + b, REFUSED),
        "NUL in a header": (health + b"x: a\0b\r\n\r\n", REFUSED),
        "CR in a header": (health + b"x: a\rb\r\n\r\n", REFUSED),
        "LF in a header": (health + b"x: a\ny: b\r\n\r\n", REFUSED),
        "LF behind a chunk's size": (q + te + end + chunk.replace(b"\r\n", b"\n"), REFUSED),
        "a chunk's size -7": (q + te + end + b"-7\r\n{}\r\n0\r\n\r\n", REFUSED),
        "blank behind a chunk's size": (q + te + end + b"%x \r\n%s\r\n0\r\n\r\n" % (n, b), REFUSED),
        "a chunk's size 0x": (q + te + end + b"0x%x\r\n%s\r\n0\r\n\r\n" % (n, b), REFUSED),
        "a chunk longer than its size": (q + te + end + b"%x\r\n%sxx\r\n0\r\n\r\n" % (n, b), REFUSED),
        "a chunk of 2^64 bytes": (q + te + end + b"10000000000000000\r\n", REFUSED),
        "an extension": (q + te + end + b"%x;a=b\r\n%s\r\n0\r\n\r\n" % (n, b), (200,)),
        "an extension of a megabyte": (
            q + te + end + b"%x;" % n + b"a" * 10**6 + b"\r\n" + b + b"\r\n0\r\n\r\n",
            REFUSED,
        ),
        "a megabyte of extensions": (
            q + te + end + b"1;aaaaaaaaaa\r\n \r\n" * 60_000 + chunk,
            REFUSED,
        ),
        "200,000 chunks of one byte": (q + te + end + b"1\r\n \r\n" * 200_000 + chunk, REFUSED),
        "a size of a million zeros": (q + te + end + b"0" * 10**6 + chunk, REFUSED),
        "a key in a trailer": (bare + te + end + open_chunk + auth + end, "no answer"),
        "an address in a trailer": (q + te + end + open_chunk + b"x-forwarded-for: 9.9.9.9\r\n\r\n", "dropped"),
        "a trailer and a request": (q + te + end + open_chunk + b"x: y\r\n\r\n" + g, "dropped"),
        "a head of 70,000 bytes": (health + b"x: " + b"a" * 70000 + b"\r\n\r\n", REFUSED),
        "9,000 headers": (health + b"x: y\r\n" * 9000 + end, REFUSED),
        "an address of 60,000 bytes": (b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\nhost: x\r\n\r\n", "not found"),
        "letters beyond ASCII": (b"GET /h\xe9 HTTP/1.1\r\nhost: x\r\n\r\n", REFUSED),
        "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", REFUSED),
        "nonsense": (b"nonsense\r\n\r\n", REFUSED),
        "a handshake of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), REFUSED),
        "to a websocket": (me + ws + auth + end, "one"),
        "to HTTP/2": (me + h2c + auth + end, "one"),
        "CONNECT": (b"CONNECT /v1/me HTTP/1.1\r\nhost: x\r\n\r\n", "no answer"),
        "two keys": (me + auth + auth + end, (401,)),
        "a key and none": (me + auth + b"authorization: Bearer\r\n\r\n", (401,)),
        "expect, then a body": ((q + length + b"expect: 100-continue\r\n\r\n", b), (100, 200)),
        "expect without a key": (bare + b"expect: 100-continue\r\n" + length + end, "no key"),
        "a body of GET, then GET": (me + b"content-length: 5\r\n" + auth + b"\r\nhello" + g, (200, 200)),
        "too long a body, then GET": ((q + b"content-length: 1100000\r\n\r\n" + b"x" * 1100000 + g,), REFUSED),
        "too long a body that is a request": ((q + b"content-length: 1100000\r\n\r\n", g), REFUSED),
        "byte by byte": (tuple(bytes([one]) for one in whole), (200,)),
        "a path that climbs": (b"GET /static/../../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n", "not found"),
        "a path that climbs in escapes": (
            b"GET /static/..%2f..%2fsettings.toml HTTP/1.1\r\nhost: x\r\n\r\n",
            "not found",
        ),
        "//v1/me": (b"GET //v1/me HTTP/1.1\r\nhost: x\r\n\r\n", "no answer"),
        "/V1/me": (b"GET /V1/me HTTP/1.1\r\nhost: x\r\n\r\n", "no answer"),
        "/%76%31/me": (b"GET /%76%31/me HTTP/1.1\r\nhost: x\r\n\r\n", "no answer"),
        "/x/../v1/me": (b"GET /x/../v1/me HTTP/1.1\r\nhost: x\r\n\r\n", "no answer"),
        "/v1": (b"GET /v1 HTTP/1.1\r\nhost: x\r\n\r\n", "no answer"),
        "health": (health + end, (200,)),
    }  # fmt: skip
    return {
        name: (pieces if isinstance(pieces, tuple) else (pieces,), expected)
        for name, (pieces, expected) in table.items()
    }


def is_right(said: Said, expected) -> bool:
    match expected:
        case "no answer":  # refused by whoever: only nothing of ours may be in it
            return bool(said.statuses or said.ended) and set(said.statuses) <= BAD | {401, 404, 405}
        case "dropped":  # the trailer is refused, or no header: it is the same whether it comes
            return said.is_as(REFUSED) or set(said.statuses) == {200}
        case "not found":
            return set(said.statuses) <= BAD | {404} and len(said.statuses) == 1
        case "one":  # answered as if there were no upgrade, or refused
            return said.statuses in {(200,), (400,), (403,), (426,), ()}
        case "no key":  # nobody is asked for a body that is refused anyway
            return said.statuses in {(401,), (100,)}
    return said.is_as(expected)


def wrong(port: int, key: str, seconds: float = 3.0) -> dict[str, Said]:
    """Which requests the server answers otherwise than expected."""
    found = {}
    for name, (pieces, expected) in requests(key).items():
        said = talk(port, *pieces, seconds=seconds, gap=0.3 if len(pieces) == 2 else 0.0)
        if not is_right(said, expected):
            found[name] = said
    return found


if __name__ == "__main__":
    for what, how in wrong(int(sys.argv[1]), sys.argv[2], 2.0).items():
        sys.stdout.write(f"{what}: {how.statuses} ended {how.ended}\n")
