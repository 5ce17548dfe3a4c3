"""How a tree is grown from distorted records: the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bocage.errors import LearnerError
from bocage.local.reconstruct import MOST_STEPS, Stop
from bocage.model import MOST_DEPTH
from bocage.schema import MOST_CELLS

Algorithm = Literal["original", "randomized", "global", "byclass", "local"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


@dataclass(frozen=True)
class TreeParameters:
    """How a tree is grown; :class:`~bocage.local.SurveyTree` explains each parameter."""

    algorithm: Algorithm = "byclass"
    intervals: int | None = None
    stop: Stop = "chi_square"
    small: int = 3_000
    fewest: int = 2
    most_depth: int = 40
    prune: bool = True

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise LearnerError(f"there is no algorithm {self.algorithm!r:.40}; there are {', '.join(ALGORITHMS)}.")
        if self.stop not in MOST_STEPS:
            raise LearnerError(f'stop is "chi_square" or "convergence", not {self.stop!r:.40}.')
        limits = {
            "intervals": (2, MOST_CELLS),
            "small": (1, 2**31),
            "fewest": (2, 2**31),
            "most_depth": (1, MOST_DEPTH),
        }
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if value is None and name == "intervals":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise LearnerError(f"{name} is a whole number, not {value!r:.40}.")
            if not least <= value <= most:
                raise LearnerError(f"{name} must lie between {least} and {most}, not at {value}.")
        if not isinstance(self.prune, bool | np.bool_):
            raise LearnerError(f"prune is True or False, not {self.prune!r:.40}.")
