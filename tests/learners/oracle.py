"""Plain, recursive ID3 and C4.5 on rows as dictionaries: nothing shared with the learners."""

from __future__ import annotations

from math import log2

from bocage.schema import Categorical

GINI_UNITS = 1024


def max_score(counts):
    return max(counts)


def gini_score(counts):
    """On the grid of the learner: splits that are equally good may differ by the floor of a branch."""
    size = sum(counts)
    return sum(n * n for n in counts) * GINI_UNITS // size - size * GINI_UNITS if size else 0


def gain_score(counts):
    size = sum(counts)
    return round(sum(n * log2(n / size) for n in counts if n), 9)


SCORES = {"max": max_score, "gini": gini_score, "information_gain": gain_score}


class Oracle:
    """Grows the best tree; the first of several best splits wins.

    `stops(counts)` says whether a node is a leaf, whatever its depth.
    """

    def __init__(self, schema, columns, score, *, stops=lambda counts: not sum(counts)):
        self.schema, self.score, self.stops = schema, SCORES[score], stops
        self.label = schema.label
        self.rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def counts(self, rows):
        return tuple(sum(row[self.label.name] == value for row in rows) for value in self.label.values)

    def grow(self, depth, *, without=()):
        boxes = {a.name: (0, a.cells - 1) for a in self.schema.attributes}
        open_ = [a for a in self.schema.attributes if a.cells > 1]
        return self._grow(self.rows, open_, boxes, depth, without)

    def _grow(self, rows, attributes, boxes, depth, without=()):
        counts = self.counts(rows)
        if not depth or not attributes or self.stops(counts):
            return counts
        splits = [
            (a, at, self._parts(rows, a, at))
            for a in attributes
            if a.name not in without
            for at in self._thresholds(a, boxes)
        ]
        scores = [sum(self.score(self.counts(part)) for part in parts) for _, _, parts in splits]
        attribute, at, parts = splits[scores.index(max(scores))]
        children = []
        for i, part in enumerate(parts):
            below, left = dict(boxes), attributes
            if at is None:
                left = [a for a in attributes if a is not attribute]
            else:
                low, high = boxes[attribute.name]
                below[attribute.name] = (low, at - 1) if i == 0 else (at, high)
                if below[attribute.name][0] == below[attribute.name][1]:
                    left = [a for a in attributes if a is not attribute]
            children.append(self._grow(part, left, below, depth - 1))
        return attribute.name, at, tuple(children)

    def _thresholds(self, attribute, boxes):
        if isinstance(attribute, Categorical):
            return [None]
        low, high = boxes[attribute.name]
        return range(low + 1, high + 1)

    def _parts(self, rows, attribute, at):
        if at is None:
            return [[r for r in rows if r[attribute.name] == v] for v in attribute.values]
        edge = attribute.edge(at)
        return [
            [r for r in rows if r[attribute.name] < edge],
            [r for r in rows if r[attribute.name] >= edge],
        ]


def nested(tree, node=0):
    """A tree as the oracle writes it: (attribute, threshold, children), or the counts of a leaf."""
    children = tree.children(node)
    if not children:
        return tuple(tree.counts[node].tolist())
    at = int(tree.threshold[node])
    name = tree.schema.attributes[int(tree.column[node])].name
    return name, None if at < 0 else at, tuple(nested(tree, child) for child in children)
