"""A Node process that the tests talk to line by line."""

from __future__ import annotations

import base64
import json
import math
import shutil
import subprocess
from typing import Any

import pytest

_DRIVER = """
import { createInterface } from "node:readline";
const odd = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
const value = (v) => (Array.isArray(v) ? (v[0] === "big" ? BigInt(v[1]) : odd[v[0]]) : v);
for await (const line of createInterface({ input: process.stdin })) {
  const { module, records } = JSON.parse(line);
  const model = await import(`data:text/javascript;base64,${module}`);
  const answers = records.map((pairs) => {
    const record = Object.create(null);
    for (const [name, v] of pairs) record[name] = value(v);
    try {
      return [model.predict(record), model.predictProba(record)];
    } catch (error) {
      return [error.name, error.message];
    }
  });
  console.log(JSON.stringify(answers));
}
"""


class Node:
    """Runs modules that `to_javascript` wrote."""

    def __init__(self) -> None:
        program = shutil.which("node")
        if program is None:
            pytest.fail("these tests need Node: apt-get install nodejs", pytrace=False)
        self._process = subprocess.Popen(
            [program, "--input-type=module", "-e", _DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, module: str, records: list[dict[str, Any]]) -> list[tuple[str, Any]]:
        pairs = [[[name, _plain(v)] for name, v in record.items()] for record in records]
        text = base64.b64encode(module.encode()).decode()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"module": text, "records": pairs}) + "\n")
        self._process.stdin.flush()
        return [tuple(answer) for answer in json.loads(self._process.stdout.readline())]

    def close(self) -> None:
        self._process.communicate(timeout=10)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return ["NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"]
    if isinstance(value, int) and abs(value) > 2**53:
        return ["big", str(value)]
    return value


@pytest.fixture(scope="session")
def node():
    process = Node()
    yield process
    process.close()
