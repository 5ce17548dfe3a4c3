"""The three data sets as section 6.1 prepares them, and as they can be prepared in private."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from experiments.common.data import DataSet, load

from bocage.schema import Categorical

# With 12,960 rows and three labels the two rare ones were merged into others; the paper does not say
# which. Of all ways this leaves the most frequent label (almost) as rare as the table has it.
MERGED = {"recommend": "spec_prior", "very_recom": "spec_prior"}

# What the paper does to missing values reads the records: one record can flip a majority and with it
# the values of many others, and an attribute is left out because of what rows contain.
NOT_PRIVATE = ("votes, imputed", "mushroom, 21 attributes")


@cache
def prepared(name: str) -> DataSet:
    """A data set by the name that the configuration gives it."""
    match name:
        case "nursery, 3 labels":
            return load("nursery", merge=MERGED)
        case "nursery, 5 labels":
            return load("nursery")
        case "votes, imputed":
            return _imputed(load("votes"))
        case "mushroom, 21 attributes":
            return load("mushroom", without=["stalk-root"])
        case _:
            return load(name)  # a missing value is a value of its own


def _imputed(data: DataSet) -> DataSet:
    """Missing votes replaced by the majority for the bill, among all rows, as in the paper."""
    marker = data.document["missing"]
    columns = {}
    for name in data.table.column_names:
        votes = data.table[name].combine_chunks().cast(pa.string())
        if name != data.label:
            cast = votes.filter(pc.not_equal(votes, marker))
            majority = pc.mode(cast.dictionary_encode().indices)[0]["mode"].as_py()
            value = cast.dictionary_encode().dictionary[majority].as_py()
            votes = pc.if_else(pc.equal(votes, marker), value, votes)
        columns[name] = votes.dictionary_encode()
    document = {k: v for k, v in data.document.items() if k not in {"missing", "missing_in"}}
    return DataSet(document, pa.table(columns))


@cache
def codes(name: str) -> np.ndarray:
    """One row per record: the places of its values in the lists of the schema."""
    data = prepared(name)
    columns = []
    for attribute in data.schema.attributes:
        assert isinstance(attribute, Categorical)
        values = data.table[attribute.name].to_pylist()
        columns.append([attribute.index[value] for value in values])
    return np.array(columns, np.int64).T
