"""The files that each recipe of CONTRIBUTING.md touches, derived from the tree: `make house` writes them.

A recipe follows one thing that is there: a learner, a release, an engine, a question, a criterion. What it touched
are the files of its own, and every register: a file that names all things of its kind, and so has to
name the next. What names only some of them uses them as examples.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

from bocage.learners import LEARNERS
from bocage.private import CRITERIA, PrivateTable

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
CHANGES = {"CHANGELOG.md"}  # at the next release the entry is no longer among those of its peers
# They name all of a kind to say what there is, not to make it work.
TOLD = {"CONTRIBUTING.md", "README.md", "docs/images/layers.svg", "scripts/recipes.py"}
UNSAID = "…"  # what `make house` writes beside a new file, and the tests refuse

LEARNER_NAMES = [(learner.__name__, f"{learner.__name__}Classifier", f"`{name}`") for name, learner in LEARNERS.items()]
ENGINE_NAMES = [
    ("DuckDB", "duckdb", "DuckDBEngine"),
    ("PostgreSQL", "postgres", "PostgresEngine"),
    ("Spark", "spark", "SparkEngine"),
]
QUESTION_NAMES = [(name,) for name in dir(PrivateTable) if name.startswith("noisy_")]
CRITERION_NAMES = [
    (name, type(criterion).__name__)
    for name, criterion in CRITERIA.items()
    if name != "max"  # which is a word of Python
]


@cache
def texts() -> dict[str, str]:
    """Every text file of the repository but the experiments, which are about papers."""
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


def naming(words: Collection[str]) -> set[str]:
    """The files in which one of these stands as a word."""
    word = re.compile("|".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in words))
    return {
        name
        for name, text in texts().items()
        if any(plain in text for plain in words) and word.search(text)  # which is far faster
    }


def registers(kinds: Sequence[Collection[str]]) -> set[str]:
    """The files that name every one of a kind."""
    return set.intersection(*map(naming, kinds)) - TOLD


def called(stem: str) -> set[str]:
    """The files that bear a name."""
    return {file for file in texts() if re.search(rf"(^|/|_){stem}(_\w+)?\.\w+$", file)}


def enumerated(name: str) -> set[str]:
    """The tests that enumerate the exact loss of something."""
    return {file for file in naming([name]) if re.match(r"tests/privacy/test_.*enumeration", file)}


@cache
def derived() -> dict[str, set[str]]:
    """For each recipe the files that it touches."""
    learner = called("diffp_id3") | {
        file
        for file in naming(["DiffPID3"])
        if file.endswith(("papers/test_trees.py", "privacy/test_learners_loss.py"))
    }
    engine = {file for file in called("duckdb") if "/engine" in file} | {
        file for file in naming(["DuckDBEngine"]) if "/engines/makers" in file
    }
    question = {file for file, text in texts().items() if "\nclass Mode(" in text}
    return {
        "Add a learner": learner | registers(LEARNER_NAMES) | CHANGES,
        "Add a kind of release": naming(["BestModel"]) - TOLD | CHANGES,
        "Add an engine": engine | registers(ENGINE_NAMES) | CHANGES,
        "Add a question": question | registers(QUESTION_NAMES) | enumerated("noisy_mode") | CHANGES,
        "Add a criterion": registers(CRITERION_NAMES) | enumerated("gini") | CHANGES,
    }


def table(heading: str) -> re.Pattern[str]:
    """Where the rows of a recipe stand."""
    head = re.escape("| file | what it gets |\n|---|---|\n")
    return re.compile(rf"(^### {heading}\n[^#]*?{head})((?:\|[^\n]*\n)*)", re.MULTILINE)


def rows(page: str, heading: str) -> dict[str, str]:
    """The files in the table of a recipe, and what each gets."""
    stands = table(heading).search(page)
    if stands is None:
        raise LookupError(f"{PAGE.name} has no recipe {heading!r} with a table.")
    return dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", stands[2], re.MULTILINE))


def renewed(said: dict[str, str], files: set[str]) -> Iterator[str]:
    """The rows that were, moved files in their places, and new files at the end."""
    new = files - set(said)
    for file, words in said.items():
        moved = sorted(other for other in new if Path(other).name == Path(file).name)
        if file in files:
            yield f"| `{file}` | {words} |\n"
        elif moved:
            new.remove(moved[0])
            yield f"| `{moved[0]}` | {words} |\n"
    for file in sorted(new):
        yield f"| `{file}` | {UNSAID} |\n"


def written(page: str) -> str:
    """The page with the files of each recipe as they are."""
    for heading, files in derived().items():
        lines = "".join(renewed(rows(page, heading), files))
        page = table(heading).sub(lambda stands, lines=lines: stands[1] + lines, page)
    return page
