"""Work for the tests of the runner: cheap, and it leaves a trace."""

import os
import time
from pathlib import Path


def count(config, repetition):
    with Path(config["trace"]).open("a", encoding="utf-8") as file:
        file.write(f"{config['n']} {repetition} {os.getpid()}\n")
    return {"accuracy": float(config["n"] * 100 + repetition)}


def slow(config, repetition):
    time.sleep(0.2)
    return count(config, repetition)
