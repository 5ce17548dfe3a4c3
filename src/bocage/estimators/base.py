"""What the classifiers share: parameters in, a frozen model out."""

# ruff: noqa: N803, N806
# X is scikit-learn's name.

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bocage.epsilon import Epsilon
from bocage.errors import EstimatorError
from bocage.estimators import rows
from bocage.estimators.cost import Lineage
from bocage.learners import Learner
from bocage.model import Certificate, Forest, Released, Tree
from bocage.private import PrivateTable, study
from bocage.schema import Schema

SchemaLike = Schema | str | Path | None

_NO_SCHEMA = (
    "{name} needs a schema: the columns, their domains and the labels are declared, never taken "
    "from the records. Give schema= a bocage.Schema or a file (`bocage schema draft` proposes one "
    "to review and sign), or fit a PrivateTable, which has one."
)


_PARAMETERS = """
Parameters
----------
schema
    The public domain: a :class:`~bocage.Schema` or its file. Not needed for a PrivateTable.
epsilon
    What a fit costs.
"""


Public = TypeVar("Public")


def read_public(given: Any, kind: type[Public], rule: str) -> Public:
    """What is declared and public: itself, or read from its file."""
    if isinstance(given, kind):
        return given
    if isinstance(given, str | Path):
        read: Public = kind.read(given)  # type: ignore[attr-defined] # a Schema or a Survey
        return read
    raise EstimatorError(f"{rule}, not {type(given).__name__}.")


class ModelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn ships no types
    """What every classifier does with a frozen model once it has one."""

    model_: Released

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row."""
        codes = self.model_codes(X)
        position = np.argsort(self._order)  # from the code of a label to its place in classes_
        labels: NDArray[Any] = self.classes_[position[self.model_.predict_codes(codes)]]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of every label, in the order of `classes_`."""
        codes = self.model_codes(X)
        return self.model_.predict_proba_codes(codes)[:, self._order]

    def model_codes(self, X: Any) -> dict[str, NDArray[np.int32]]:
        """The columns that the model looks at, as codes."""
        check_is_fitted(self, "model_")
        return self.model_.encode(self._true_columns(rows.checked(self, X, reset=False)))

    @property
    def certificate_(self) -> Certificate:
        """What is guaranteed about the model."""
        check_is_fitted(self, "model_")
        return self.model_.certificate

    def _true_columns(self, X: Any) -> rows.Columns:
        return rows.columns(X, self.model_.schema)

    def _keep(self, model: Released, targets: NDArray[Any] | None) -> None:
        """What `fit` leaves behind, given the labels that it was fitted with."""
        self.model_ = model
        if isinstance(model, Tree | Forest):
            setattr(self, "tree_" if isinstance(model, Tree) else "forest_", model)
        self.classes_, self._order = rows.classes(model.label_attribute.values, targets)

    def _name_features(self, schema: Schema) -> None:
        """The attributes of what brings its own schema; `rows.checked` names those of the rest."""
        names = [attribute.name for attribute in schema.attributes]
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # the schema says where missing values go
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class PrivateClassifier(ModelClassifier):
    """One learner as a scikit-learn classifier. Use a subclass.

    ``class MyClassifier(PrivateClassifier, learner=MyLearner)`` makes one. Its parameters, with their
    defaults and their part of the docstring, are the fields of the learner.

    Attributes
    ----------
    model_
        The frozen :class:`~bocage.model.Tree` or :class:`~bocage.model.Forest`, also as `tree_` or
        `forest_`; or an :class:`~bocage.model.AdditiveModel`.
    certificate_
        What is guaranteed about the model.
    classes_
        All declared labels, sorted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Privacy
    -------
    ``fit(table)`` with a :class:`~bocage.PrivateTable` charges `epsilon` to its account before a
    row is read. ``fit(X, y)`` is a study: its caller holds the records, the noise is real, and
    nothing keeps count. Every further fit costs again, which :class:`TuningCost` says.
    """

    learner: ClassVar[type[Learner]]
    schema: SchemaLike
    epsilon: Any
    attributes: Sequence[str] | None

    if TYPE_CHECKING:  # each subclass has an own one, with the parameters of its learner

        def __init__(self, schema: SchemaLike = None, epsilon: Any = 1.0, **parameters: Any) -> None: ...

    def __init_subclass__(cls, *, learner: type[Learner] | None = None, **keywords: Any) -> None:
        if learner is not None:
            cls.learner = learner
            cls.__init__ = _initializer(cls, learner)  # type: ignore[method-assign] # as said above
            cls.__doc__ = f"{inspect.getdoc(cls)}\n{_PARAMETERS}{_parameters_section(learner)}\n"
        super().__init_subclass__(**keywords)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a model.

        Parameters
        ----------
        X
            A PrivateTable, with its label in it; or the attributes as a pandas, polars or Arrow
            table, or as an array with the columns in the order of the schema.
        y
            The labels, if X is not a PrivateTable.
        """
        learner, epsilon = self._learner(), Epsilon.of(self.epsilon)
        if isinstance(X, PrivateTable):
            table, targets = self._behind(X, y), None
            self._name_features(table.schema)
        else:
            X, y = rows.checked(self, X, y, reset=True)
            targets = y
            schema = self._declared(X, y)
            if schema.label is None:
                raise EstimatorError(f"schema {schema.name!r} declares no label (target).")
            rows.classes(schema.label.values, y)  # refused before anything is learned
            table = study({**self._columns(X, schema), schema.label.name: rows.labels(y)}, schema)
        self._lineage().count_fit(epsilon)
        self._keep(learner.fit(table, epsilon), targets)
        return self

    def _learner(self) -> Learner:
        names = [field.name for field in fields(self.learner)]  # type: ignore[arg-type] # every learner is a dataclass
        given = {name: getattr(self, name) for name in names}
        if isinstance(self.attributes, list | np.ndarray):
            given["attributes"] = tuple(map(str, self.attributes))
        return self.learner(**given)

    def _behind(self, table: PrivateTable, y: Any) -> PrivateTable:
        """A table that is fitted as it is."""
        if y is not None:
            raise EstimatorError("a PrivateTable has its label in it: fit(table) takes no y.")
        if self.schema is not None and self._read().fingerprint != table.schema.fingerprint:
            raise EstimatorError(
                f"the table {table.schema.name!r} has another schema than the one given. "
                "Leave schema out: a PrivateTable brings its own."
            )
        return table

    def _declared(self, X: Any, y: Any) -> Schema:  # noqa: ARG002 - records declare nothing
        """The public domain of the records."""
        if self.schema is None:
            raise EstimatorError(_NO_SCHEMA.format(name=type(self).__name__))
        return self._read()

    def _read(self) -> Schema:
        return read_public(self.schema, Schema, "schema is a bocage.Schema or the path of a file")

    def _columns(self, X: Any, schema: Schema) -> rows.Columns:
        return rows.columns(X, schema)

    def _true_columns(self, X: Any) -> rows.Columns:
        return self._columns(X, self.model_.schema)

    def _lineage(self) -> Lineage:
        if not hasattr(self, "_family"):
            self._family = Lineage()
        return self._family

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        copy._family = self._lineage()
        copy._family.copies += 1
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # the noise has no seed
        return tags


def _initializer(cls: type, learner: type[Learner]) -> Callable[..., None]:
    """An ``__init__`` that keeps its arguments as they are, as scikit-learn demands."""
    signature = _signature(learner)

    def __init__(*arguments: Any, **keywords: Any) -> None:  # noqa: N807 - it becomes one
        try:
            given = signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise TypeError(f"{cls.__name__} {error}") from None
        given.apply_defaults()
        self = given.arguments.pop("self")
        for name, value in given.arguments.items():
            setattr(self, name, value)

    parameters = signature.parameters.values()
    __init__.__signature__ = signature  # type: ignore[attr-defined] # `inspect` looks for it
    __init__.__annotations__ = {p.name: p.annotation for p in parameters if p.name != "self"}
    __init__.__module__, __init__.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    return __init__


def _signature(learner: type[Learner]) -> inspect.Signature:
    """Schema and epsilon, then the fields of a learner by keyword only."""
    hints = {**get_type_hints(learner), "attributes": Sequence[str] | None}
    either = Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            Parameter("self", either),
            Parameter("schema", either, default=None, annotation=SchemaLike),
            Parameter("epsilon", either, default=1.0, annotation=Any),
            *(
                Parameter(
                    field.name,
                    Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=hints[field.name],
                )
                for field in fields(learner)  # type: ignore[arg-type] # every learner is a dataclass
            ),
        ]
    )


def _parameters_section(learner: type[Learner]) -> str:
    """What the docstring of a learner says about its parameters."""
    _, _, section = (inspect.getdoc(learner) or "").partition("\nParameters\n----------\n")
    return section.partition("\n\n")[0]
