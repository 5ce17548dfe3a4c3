"""A small schema that every learner with numeric attributes can learn from."""

from bocage.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "people",
        "attributes": [
            {"name": "color", "type": "categorical", "values": ["red", "green", "blue"]},
            {"name": "size", "type": "numeric", "lower": 0, "upper": 100, "cells": 50},
        ],
        "target": {"name": "buys", "type": "categorical", "values": ["no", "yes"]},
    }
)
