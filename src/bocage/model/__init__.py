"""Released and immutable models: they predict, explain, draw and export themselves.

::

    learners ── tree.builder, additive.model ──> a model: released values alone, and its certificate
          │
          ├── encode, bins    raw values of any table become codes, and codes become cells
          ├── base            what all models answer: predict, predict_proba, encode, save
          ├── tree/           trees and forests as flat arrays; rows are routed through them
          ├── additive/       tables of scores that are added up
          ├── certificate/    what was guaranteed, line by line and in words
          ├── rules           what a model says in sentences
          └── export/         text, svg, sql, javascript, json; json reads back too
"""

from bocage.model.additive.model import AdditiveModel, Term
from bocage.model.base import Model
from bocage.model.certificate.certificate import Batch, Certificate
from bocage.model.certificate.releases import PlanLine
from bocage.model.export.javascript import to_javascript
from bocage.model.export.json import from_dict, load, save, to_dict
from bocage.model.export.sql import Dialect, to_sql
from bocage.model.export.svg import to_svg
from bocage.model.export.text import to_rich, to_text
from bocage.model.rules import Rule, Rules, rules
from bocage.model.tree.builder import TreeBuilder
from bocage.model.tree.forest import Forest, Voting
from bocage.model.tree.shape import MOST_DEPTH, MOST_LABELS, MOST_NODES
from bocage.model.tree.tree import Tree

Released = Tree | Forest | AdditiveModel

__all__ = [
    "MOST_DEPTH",
    "MOST_LABELS",
    "MOST_NODES",
    "AdditiveModel",
    "Batch",
    "Certificate",
    "Dialect",
    "Forest",
    "Model",
    "PlanLine",
    "Released",
    "Rule",
    "Rules",
    "Term",
    "Tree",
    "TreeBuilder",
    "Voting",
    "from_dict",
    "load",
    "rules",
    "save",
    "to_dict",
    "to_javascript",
    "to_rich",
    "to_sql",
    "to_svg",
    "to_text",
]
