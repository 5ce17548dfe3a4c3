"""The classifiers as the documentation shows them: with the parameters that they get when imported."""

from __future__ import annotations

from typing import Any

import griffe

_CLASSIFIERS = "bocage.estimators.classifiers"


class Classifiers(griffe.Extension):
    """Takes signatures and docstrings of the classifiers from the classes, not from their source."""

    def on_module(self, *, mod: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        if mod.path != _CLASSIFIERS:
            return
        imported = griffe.inspect(_CLASSIFIERS, docstring_parser=loader.docstring_parser)
        for name, written in mod.classes.items():
            if not written.is_alias:
                written.docstring = imported[name].docstring
                written.set_member("__init__", imported[name]["__init__"])
