"""Documents that cost more to read than they are worth, and what each reader spends on one.

Run as a program in a process of its own: ``hostile.py KIND DIRECTORY`` reads every file of the
directory, each in a fork, and prints its name, how it ended, its seconds of CPU and its megabytes.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import time
from pathlib import Path

SECONDS, MEGABYTES = 1.0, 100.0


def fragments(size: int) -> dict[str, bytes]:
    """Values of about so many bytes, each of which is hard on somebody."""
    return {
        "deep lists": b"[" * (size // 2) + b"]" * (size // 2),
        "deep objects": b'{"a":' * (size // 6) + b"1" + b"}" * (size // 6),
        "lists that do not end": b"[" * size,
        "lists fifteen deep": _list(b"[" * 12 + b"]" * 12, size),
        "digits": b"7" * size,
        "digits behind a point": b"0." + b"7" * size,
        "numbers of 64 digits": _list(b"7" * 64, size),
        "an exponent": b"1e" + b"9" * 20,
        "exponents": _list(b"9e999", size),
        "a text": b'"' + b"a" * size + b'"',
        "a text of wide letters": b'"' + "\U0001f600".encode() * (size // 4) + b'"',
        "a text of escapes": b'"' + b"\\ud83d\\ude00" * (size // 12) + b'"',
        "escaped quotes": b'"' + b'\\"' * (size // 2) + b'"',
        "a text that does not end": b'"' + b'\\"' * (size // 2),
        "texts": _list(b'"a"', size),
        "many keys": b"{" + b",".join(b'"%d":0' % i for i in range(size // 12)) + b"}",
        "one key again and again": b"{" + b",".join([b'"a":0'] * (size // 6)) + b"}",
        "zeros": _list(b"0", size),
        "numbers": _list(b"1234", size),
        "nothings": _list(b"null", size),
        "empty lists": _list(b"[]", size),
        "empty objects": _list(b"{}", size),
        "pairs": _list(b'["k",null]', size),
        "halves of letters": b'"' + b"\\ud800" * (size // 6) + b'"',
        "blanks": b"[" + b" " * size + b"]",
        "packed": gzip.compress(b"[" + b"0," * size + b"0]", 1),
        "no numbers": b"[NaN,Infinity]",
        "no text": b"\xff" * size,
    }


def _list(one: bytes, size: int) -> bytes:
    return b"[" + b",".join([one] * (size // (len(one) + 1))) + b"]"


def written(directory: Path, good: bytes, keys: list[str], size: int) -> None:
    """Each fragment as a whole file, and in the place of a value of a good document."""
    document = json.loads(good)
    for name, fragment in fragments(size).items():
        (directory / name).write_bytes(fragment)
    for key in keys:
        for name, fragment in fragments(size // 8).items():
            marked = json.dumps({**document, key: "PLACE"}, sort_keys=True, separators=(",", ":"))
            content = marked.encode().replace(b'"PLACE"', fragment)
            (directory / f"{name} as {key}").write_bytes(content)


def reader(kind: str, directory: Path):
    """What reads a file of a kind; everything that it needs is loaded."""
    from bocage import model
    from bocage.errors import BocageError
    from bocage.local import Survey
    from bocage.parties import Contribution, PartyPlan, Signer, merge
    from bocage.parties.keys import public_keys
    from bocage.service.core import strict_json

    if kind == "contribution":
        plan = PartyPlan.load(directory.parent / "plan.json")
        read = lambda path: merge(plan, [path])  # noqa: E731
    else:
        read = {
            "plan": PartyPlan.load,
            "contribution alone": Contribution.load,
            "keys": lambda path: public_keys([path]),
            "signer": Signer.load,
            "model": model.load,
            "survey": Survey.read,
            "body": lambda path: model.from_dict(strict_json.parse(path.read_bytes(), 16)),
        }[kind]
    return read, (BocageError, strict_json.Refused)


def measured(read, refusals, path: Path) -> str:
    """How it ended and what it took, in a fork of its own."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        with os.fdopen(ours) as told:
            line = told.read()
        os.waitpid(child, 0)
        return line or "died 0 0"
    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    # More than it may take, less than the machine has: who takes it gets a MemoryError.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + 2**29, hard))
    began = time.process_time()
    try:
        read(path)
        end = "read"
    except refusals:
        end = "refused"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        end = type(error).__name__
    seconds = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    os.write(theirs, f"{end} {seconds} {(after - before) / 2**20}".encode())
    os._exit(0)


if __name__ == "__main__":
    given, where = sys.argv[1], Path(sys.argv[2])
    how, expected = reader(given, where)
    for file in sorted(where.iterdir()):
        sys.stdout.write(f"{file.name}\t{measured(how, expected, file)}\n")
        sys.stdout.flush()
