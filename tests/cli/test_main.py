from __future__ import annotations

import signal
import subprocess
import sys
import time
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from bocage import __version__
from bocage.cli import COMMANDS, LazyGroup, main
from bocage.errors import PlanError


def test_help_teaches_the_first_commands() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for line in ("bocage demo", "bocage schema draft people.csv", "bocage ledger show"):
        assert line in result.output
    for name, (_, help_line) in COMMANDS.items():
        assert name in result.output
        assert help_line in result.output


def test_the_version_is_printed() -> None:
    assert __version__ in CliRunner().invoke(main, ["--version"]).output


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom bocage.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'duckdb', 'numba', 'pyarrow', 'rich', 'psycopg', 'pyspark'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["demo", "schema", "ledger"])
def test_a_command_is_loaded_when_asked(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert COMMANDS[name][1].split(",")[0] in result.output


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(main, ["tree"])
    assert result.exit_code == 2
    assert "No such command 'tree'" in result.output


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Registers a plain function that raises, as the command `fail`."""

    def register(error: BaseException) -> None:
        def fail() -> None:
            raise error

        module = import_module("bocage.cli")
        monkeypatch.setattr(module, "fail", fail, raising=False)
        monkeypatch.setitem(COMMANDS, "fail", ("bocage.cli:fail", "Fails."))

    return register


def test_our_errors_are_one_red_line_without_traceback(failing) -> None:
    failing(PlanError("table 't' has no column 'x'."))
    result = CliRunner().invoke(main, ["fail"], color=True)
    assert result.exit_code == 2
    assert result.stderr == "\x1b[31merror: table 't' has no column 'x'.\x1b[0m\n"
    assert result.stdout == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupted_command_exits_130(failing, error: BaseException) -> None:
    failing(error)
    result = CliRunner().invoke(main, ["fail"])
    assert result.exit_code == 130
    assert result.stderr == "stopped.\n"


def test_other_errors_are_not_hidden(failing) -> None:
    failing(ZeroDivisionError())
    assert isinstance(CliRunner().invoke(main, ["fail"]).exception, ZeroDivisionError)


def test_ctrl_c_exits_130_without_traceback() -> None:
    program = (
        "import sys, time\nfrom bocage import cli\n"
        "def wait():\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "cli.wait = wait\ncli.COMMANDS['wait'] = ('bocage.cli:wait', '')\ncli.main(['wait'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"
        time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=20)
    assert child.returncode == 130
    assert errors == "stopped.\n"


def test_a_command_whose_package_is_missing_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "gone", ("no_such_package:main", "Gone."))
    result = CliRunner().invoke(main, ["gone"])
    assert result.exit_code == 1
    assert "'bocage gone' needs 'no_such_package', which is not installed." in result.output


def test_the_group_is_lazy() -> None:
    assert isinstance(main, LazyGroup)
    assert main.commands == {}
