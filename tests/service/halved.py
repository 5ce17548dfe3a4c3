"""A service that is broken on purpose: it adds half of the noise that it charges for.

It is started as `bocage serve` is; nothing in the shipped package can be made to do this.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from running import Running

from bocage.cli import main
from bocage.mechanisms import SystemNoise
from bocage.private import owner


class HalvedNoise(SystemNoise):
    """Laplace noise of half the scale, selections at twice the rate."""

    def laplace(self, scale, size):
        return super().laplace(scale / 2, size)

    def select(self, contests, selection):
        return super().select([replace(one, rate=one.rate * 2) for one in contests], selection)


class Halved(Running):
    """`bocage serve` with half the noise, as a process of its own."""

    def program(self):
        script = self.made.path.parent / "halved.sh"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__)} "$@"\n')
        script.chmod(0o700)
        return str(script)


if __name__ == "__main__":
    owner._PROVIDERS["system"] = HalvedNoise
    main(sys.argv[1:])
