"""Noise providers for tests only: silent, and one that keeps what it was asked for."""

from __future__ import annotations

import numpy as np

from bocage.mechanisms import ConsistentTables, SystemNoise, Tables


class SilentNoise:
    """No noise: zeros, and the best candidate (the first of several)."""

    name = "silent"

    def laplace(self, scale, size):
        assert scale > 0
        return np.zeros(size, np.int64)

    def select(self, contests, selection):
        return np.array([int(np.argmax(contest.scores)) for contest in contests], np.int64)

    def randomize(self, codes, arity, rate):
        raise NotImplementedError

    def perturb(self, bodies):
        return Silence(bodies)

    def draw_by_rejection(self, proposal, rate, total):
        assert rate > 0
        return proposal(BestSteps()).outcome


class BestSteps:
    """Choices of a walk that always take the largest weight (the first of several)."""

    def choose(self, weights):
        return int(np.argmax(weights))

    def choose_each(self, weights):
        return np.argmax(weights, axis=1)


class Silence:
    """Noise on tables that is 0, exactly."""

    bits = 56

    def __init__(self, bodies):
        shapes = []
        for body in bodies:
            if isinstance(body, Tables | ConsistentTables):
                shapes += [(size, body.columns) for size in body.sizes]
            else:
                shapes.append((body.size, body.labels))
        self._zeros = [np.full(shape, 0, object) for shape in shapes]

    def bounds(self):
        return [(zeros, zeros) for zeros in self._zeros]

    def refine(self):
        self.bits += 64


class RecordingNoise(SystemNoise):
    """Real noise that also keeps scales, contests and bodies."""

    def __init__(self):
        super().__init__()
        self.bodies = []  # of every draw, rehearsals included
        self.scales = []  # (scale, size)
        self.contests = []  # (contest, selection)
        self.walks = []  # (rate, total)

    def draw_by_rejection(self, proposal, rate, total):
        self.walks.append((rate, total))
        return super().draw_by_rejection(proposal, rate, total)

    def perturb(self, bodies):
        self.bodies.append(bodies)
        return super().perturb(bodies)

    def laplace(self, scale, size):
        self.scales.append((scale, size))
        return super().laplace(scale, size)

    def select(self, contests, selection):
        self.contests += [(contest, selection) for contest in contests]
        return super().select(contests, selection)


class SilentRecordingNoise(SilentNoise):
    """Silent, and keeps scales, contests and bodies."""

    def __init__(self):
        self.scales, self.contests, self.bodies, self.walks = [], [], [], []

    def draw_by_rejection(self, proposal, rate, total):
        self.walks.append((rate, total))
        return super().draw_by_rejection(proposal, rate, total)

    def perturb(self, bodies):
        self.bodies.append(bodies)
        return super().perturb(bodies)

    def laplace(self, scale, size):
        self.scales.append((scale, size))
        return super().laplace(scale, size)

    def select(self, contests, selection):
        self.contests += [(contest, selection) for contest in contests]
        return super().select(contests, selection)
