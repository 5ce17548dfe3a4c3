"""What is public about a table."""

from bocage.schema.attribute import (
    DROP,
    MOST_CELLS,
    MOST_ROWS,
    MOST_VALUES,
    Attribute,
    Categorical,
    Numeric,
    number,
)
from bocage.schema.layout import Layout
from bocage.schema.schema import Schema

__all__ = [
    "DROP",
    "MOST_CELLS",
    "MOST_ROWS",
    "MOST_VALUES",
    "Attribute",
    "Categorical",
    "Layout",
    "Numeric",
    "Schema",
    "number",
]
