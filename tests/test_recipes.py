"""The recipes of CONTRIBUTING.md list every file that they touch.

A recipe follows one thing that is there: a learner, an engine, a question, a criterion. The files
that it touched are derived from the tree: those of its own, and every register, which is a file that
names all things of its kind. What only names some of them uses them as examples.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache

from bocage.learners import LEARNERS
from bocage.private import CRITERIA, PrivateTable
from docs_pages import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGES = {"CHANGELOG.md"}  # at the next release the entry is no longer among those of its peers
# Pages and scripts that name all of a kind to say what there is, not to make it work.
TOLD = {"CONTRIBUTING.md", "README.md", "docs/images/layers.svg", "tests/test_recipes.py"}

# Most learners stand in these, each for a reason of its own.
EXAMPLES = {"tests/estimators/test_classifiers.py"}


@cache
def texts() -> dict[str, str]:
    """Every tracked text file but the experiments, which are about papers."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {}
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if name.startswith(("experiments/", "lock/")) or not path.is_file():
            continue
        try:
            files[name] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
    return files


def naming(words: Iterable[str]) -> set[str]:
    """The files in which one of these stands as a word."""
    word = re.compile("|".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in words))
    return {name for name, text in texts().items() if word.search(text)}


def registers(kinds: Sequence[Iterable[str]]) -> set[str]:
    """The files that name every one of a kind, and so will have to name the next."""
    return set.intersection(*map(naming, kinds)) - TOLD


def called(stem: str) -> set[str]:
    """The files that bear a name."""
    return {file for file in texts() if re.search(rf"(^|/|_){stem}(_\w+)?\.\w+$", file)}


LEARNER_NAMES = [
    (learner.__name__, f"{learner.__name__}Classifier", f"`{name}`")
    for name, learner in LEARNERS.items()
]


def listed(heading: str) -> set[str]:
    """The files in the table of a recipe."""
    part = re.search(rf"^### {heading}\n(.*?)^##", PAGE, re.MULTILINE | re.DOTALL)
    assert part, f"CONTRIBUTING.md has no recipe {heading!r}"
    rows = re.findall(r"^\| `([^`]+)` \|", part[1], re.MULTILINE)
    assert len(rows) == len(set(rows))
    return set(rows)


def assert_whole(heading: str, derived: set[str]) -> None:
    """Say what to write into the table, and what to take out of it."""
    table = listed(heading)
    assert {"missing": sorted(derived - table), "too many": sorted(table - derived)} == {
        "missing": [],
        "too many": [],
    }


def test_the_recipe_of_a_learner_lists_every_file():
    tests = {"tests/learners/papers/test_trees.py", "tests/privacy/test_learners_loss.py"}
    assert tests <= naming(["DiffPID3"])
    assert_whole("Add a learner", called("diffp_id3") | registers(LEARNER_NAMES) | tests | CHANGES)


def test_the_recipe_of_an_engine_lists_every_file():
    kinds = [
        ("DuckDB", "duckdb", "DuckDBEngine"),
        ("PostgreSQL", "postgres", "PostgresEngine"),
        ("Spark", "spark", "SparkEngine"),
    ]
    makers = {"tests/engines/makers_local.py"}
    assert makers == {f for f in naming(["DuckDBEngine"]) if f.startswith("tests/engines/makers")}
    own = {file for file in called("duckdb") if "engine/" in file}
    assert_whole("Add an engine", own | registers(kinds) | makers | CHANGES)


def test_the_recipe_of_a_question_lists_every_file():
    kinds = [(name,) for name in dir(PrivateTable) if name.startswith("noisy_")]
    assert ("noisy_mode",) in kinds
    own = {file for file, text in texts().items() if "\nclass Mode(" in text}
    loss = {f for f in naming(["noisy_mode"]) if re.match(r"tests/privacy/test_.*enumeration", f)}
    assert own
    assert loss
    assert_whole("Add a question", own | registers(kinds) | loss | CHANGES)


def test_the_recipe_of_a_criterion_lists_every_file():
    kinds = [
        (name, type(criterion).__name__)
        for name, criterion in CRITERIA.items()
        if name != "max"  # which is a word of Python
    ]
    loss = {f for f in naming(["gini"]) if re.match(r"tests/privacy/test_.*enumeration", f)}
    assert loss
    assert_whole("Add a criterion", registers(kinds) | loss | CHANGES)


def test_files_that_name_most_of_a_kind_are_known_to_name_them_as_examples():
    """A register that forgets one of its kind would be no register, and no recipe would list it."""
    named = [naming(words) for words in LEARNER_NAMES]
    often = {file for file in texts() if sum(file in files for files in named) >= len(named) - 3}
    assert often - TOLD - listed("Add a learner") == EXAMPLES
