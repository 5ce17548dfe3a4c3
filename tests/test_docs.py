"""The documentation is true: its examples run, and everything public has an entry."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest
from click.testing import CliRunner

import bocage
from bocage import cli, errors
from bocage.mechanisms import Selection
from bocage.private import CRITERIA, PrivatePartition, PrivateTable
from bocage.private.owner import _PROVIDERS
from bocage.schema import document
from docs_pages import PAGES, ROOT, Block, blocks, name

RUNNING = [page for page in PAGES if any(b.language in {"python", "console"} for b in blocks(page))]
GUIDES = ROOT / "docs" / "topics"


@pytest.mark.parametrize("page", RUNNING, ids=name)
def test_examples_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        where = f"{name(page)}:{block.line}"
        if block.title:
            Path(block.title).write_text(block.body, encoding="utf-8")
        if block.language == "python" and block.reason is None:
            # The line numbers of the page, so that a failure points there.
            exec(compile("\n" * (block.line - 1) + block.body, where, "exec"), namespace)  # noqa: S102 - our own page
        if block.language == "console":
            _run(block, where)


def _run(block: Block, where: str) -> None:
    for command in block.commands:
        program, *arguments = shlex.split(command)
        assert program == "bocage", f"{where}: {command} is not ours to run"
        result = CliRunner().invoke(cli.main, arguments)
        assert result.exit_code == 0, f"{where}: {command}\n{result.output}"


def test_every_example_that_does_not_run_says_why():
    fences = sum(page.read_text().count("```python") for page in PAGES)
    found = [b for page in PAGES for b in blocks(page) if b.language == "python"]
    assert len(found) == fences  # none escapes the reader of blocks
    assert all(b.reason is None or len(b.reason) > 10 for b in found)


def test_the_example_of_the_readme_has_twelve_lines():
    example = next(b for b in blocks(ROOT / "README.md") if b.language == "python")
    assert len([line for line in example.body.splitlines() if line]) <= 12


@pytest.mark.parametrize("public", [n for n in bocage.__all__ if n != "__version__"])
def test_public_name_has_a_reference_and_a_docstring(public):
    pages = "\n".join(p.read_text() for p in (ROOT / "docs" / "reference").glob("*.md"))
    assert re.search(rf"^::: bocage[\w.]*\.{public}$", pages, re.MULTILINE)
    assert inspect.getdoc(getattr(bocage, public))


@pytest.mark.parametrize("owner", [PrivateTable, PrivatePartition], ids=lambda c: c.__name__)
def test_every_method_of_a_table_has_a_docstring(owner):
    bare = [
        method for method in dir(owner) if not method.startswith("_") and not inspect.getdoc(getattr(owner, method))
    ]
    assert bare == []


def test_every_question_has_its_sensitivity_explained():
    guide = (GUIDES / "sensitivity.md").read_text()
    asked = {n for n in dir(PrivateTable) if n.startswith("noisy_")} | {"choose"}
    assert [n for n in sorted(asked) if f"`{n}`" not in guide] == []


def test_every_key_of_a_schema_is_explained():
    guide = (GUIDES / "schemas.md").read_text()
    keys = document._TABLE | document._ABOUT | document._LAYOUT | {"draft"}
    keys |= set.union(*document._ALLOWED.values())
    assert [key for key in sorted(keys) if f"`{key}`" not in guide] == []


def test_every_command_has_a_heading():
    page = (ROOT / "docs" / "command-line.md").read_text()
    missing = [path for path in _commands(cli.main, "bocage") if f"# {path}\n" not in page]
    assert missing == []


def _commands(group: click.Group, path: str) -> list[str]:
    context = click.Context(group)
    found = []
    for child in group.list_commands(context):
        command = group.get_command(context, child)
        assert command is not None
        found.append(f"{path} {child}")
        if isinstance(command, click.Group):
            found += _commands(command, f"{path} {child}")
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{path} {child} {option.opts[0]} has no help"
    return found


def test_every_option_of_a_command_is_named():
    page = (ROOT / "docs" / "command-line.md").read_text()
    missing = [option for option in _options(cli.main) if option not in page]
    assert missing == []


def _options(group: click.Group) -> list[str]:
    context = click.Context(group)
    commands = [group.get_command(context, child) for child in group.list_commands(context)]
    nested = [o for c in commands if isinstance(c, click.Group) for o in _options(c)]
    return nested + [p.opts[-1] for c in commands if c for p in c.params if isinstance(p, click.Option)]


def test_every_engine_has_a_section():
    guide = (GUIDES / "engines.md").read_text()
    sources = (ROOT / "src" / "bocage" / "engine").glob("*.py")
    names = {n for s in sources for n in re.findall(r'^    name = "(\w+)"$', s.read_text(), re.MULTILINE)}
    assert {"memory", "numpy"} <= names
    assert [n for n in sorted(names) if f"\n## {n}\n" not in guide] == []


def test_every_mechanism_provider_and_criterion_is_explained():
    guide = (GUIDES / "mechanisms.md").read_text()
    for module in (
        "laplace",
        "selection/exponential",
        "selection/permute_and_flip",
        "selection/rejection_sampling",
        "randomized_response",
    ):
        assert (ROOT / "src" / "bocage" / "mechanisms" / f"{module}.py").exists()
    for heading in (
        "Discrete Laplace",
        "Exponential mechanism",
        "Permute-and-flip",
        "Randomized response",
        "Rejection sampling",
    ):
        assert f"\n## {heading}\n" in guide
    assert [s for s in Selection if f'selection="{s}"' not in guide] == []
    assert [p for p in _PROVIDERS if f"`{p}`" not in guide] == []
    sensitivity = (GUIDES / "sensitivity.md").read_text()
    assert [c for c in CRITERIA if f"`{c}`" not in sensitivity] == []


def test_the_drawing_of_the_errors_is_complete():
    drawn = set(re.findall(r"\b[A-Z]\w+\b(?=\s|$)", errors.__doc__ or ""))
    raised = {n for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, Exception)}
    assert raised <= drawn


def test_the_picture_is_well_formed_and_knows_dark_screens():
    picture = ROOT / "docs" / "images" / "layers.svg"
    ET.parse(picture)  # noqa: S314 - our own file
    assert "prefers-color-scheme: dark" in picture.read_text()


def test_links_between_files_lead_somewhere():
    broken = [
        f"{name(page)} → {target}"
        for page in [*PAGES, *ROOT.glob("*.md")]
        for target in re.findall(r"\]\(([^)#:]+)(?:#[\w.-]+)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_files_of_the_repository_that_pages_name_are_there():
    """In backticks, from the root: code, experiments and their results."""
    pages = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "experiments").rglob("*.md")]
    gone = [
        f"{name(page)} → {target}"
        for page in pages
        for target in re.findall(
            r"`((?:src|tests|docs|experiments|benchmarks|scripts|lock)/[\w./-]+)`", page.read_text()
        )
        if not (ROOT / target).exists()
    ]
    assert gone == []


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        [*command, "--site-dir", str(tmp_path)],
        check=False,
        cwd=ROOT,
        env=quiet,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 15
    loads = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//"
        r"|<link\b(?![^>]*\brel=[\"']?canonical)[^>]*\bhref=[\"']?(?:https?:)?//"
        r"|@import\s|url\([\"']?(?:https?:)?//"
    )
    files = [*pages, *tmp_path.rglob("*.css")]
    assert [f.name for f in files if loads.search(f.read_text(encoding="utf-8"))] == []


def test_every_target_of_the_makefile_is_listed_by_help():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split()
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"make (\w+)", listed.stdout) == phony


def test_the_changelog_has_one_line_for_each_entry():
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    entries = [line for line in lines if line.startswith("- ")]
    assert len(entries) > 20
    assert [line for line in entries if len(line) > 150 or line[-1] != "."] == []
    assert [line for line in lines if line.startswith(" ")] == []  # none goes on
    kept = [line for line in lines if line.startswith("### ")]
    assert set(kept) <= {f"### {kind}" for kind in ("Added", "Changed", "Fixed", "Security")}


def test_every_test_that_the_security_page_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text())
    assert len(named) > 30
    for file, test in named:
        source = (ROOT / file).read_text()
        assert not test or f"def {test}(" in source, f"{file}::{test}"


def test_every_module_that_the_security_page_names_is_there():
    rows = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line[:2] == "| "]
    kept = " ".join(row.split(" | ")[1] for row in rows)
    named = set(re.findall(r"`(\w+/(?:\w+\.py)?)`", kept))
    assert len(named) > 10
    assert [path for path in sorted(named) if not (ROOT / "src/bocage" / path).exists()] == []
