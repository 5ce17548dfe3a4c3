"""`bocage ledger show|verify|export`."""

import pytest
from click.testing import CliRunner

from bocage.accounting import open_ledger
from bocage.cli.ledger import ledger as command
from bocage.epsilon import Epsilon


@pytest.fixture
def filled(target):
    with open_ledger(target, create=True) as ledger:
        table = ledger.table("people", Epsilon.of(2))
        alice = ledger.analyst(table, "alice [red]", Epsilon.of(1))
        ledger.charge(alice, Epsilon.of("0.25"), '{"ask":"noisy_count"}')
        ledger.charge(alice.partition("p").part("\x1b[31m"), Epsilon.of("0.125"), "{}")
        ledger.freeze(ledger.analyst(table, "bob", Epsilon.of(1)))
        pets = ledger.table("pets", Epsilon.of(9))
        ledger.charge(ledger.analyst(pets, "carol", Epsilon.of(9)), Epsilon.of(3), "{}")
    return target


def run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments], env={"COLUMNS": "160"})


def test_show_prints_what_is_left_and_what_was_charged(filled):
    assert "\\x1b" not in run("show", filled, "--last", 0).output
    done = run("show", filled, "--parts")
    assert done.exit_code == 0
    for text in ("alice [red]", "0.375", "0.625", "frozen", "noisy_count", "\\x1b[31m", "carol"):
        assert text in done.output
    assert "\x1b" not in done.output


def test_show_can_be_limited(filled):
    done = run("show", filled, "--table", "people", "--last", 1)
    assert "carol" not in done.output
    assert "noisy_count" not in done.output
    assert "freeze" in done.output


def test_verify_says_what_it_found(filled, tmp_path):
    assert "✓ 10 entries verify" in run("verify", filled).output
    assert "10 entries written" in run("export", filled, tmp_path / "export.jsonl").output
    assert "✓ 10 entries verify" in run("verify", tmp_path / "export.jsonl").output
    assert run("verify", filled, "--against", tmp_path / "export.jsonl").exit_code == 0
    lines = (tmp_path / "export.jsonl").read_text().splitlines()
    (tmp_path / "export.jsonl").write_text("\n".join(lines[:-1]))
    done = run("verify", tmp_path / "export.jsonl")
    assert done.exit_code == 1
    assert "the head names entry 10, the chain ends at 9" in done.output


def test_verify_opens_a_ledger_that_takes_no_charges(filled):
    with open_ledger(filled) as ledger, ledger._store.write() as write:
        write("UPDATE head SET number = 3")
    done = run("verify", filled)
    assert done.exit_code == 1
    assert "the head names entry 3" in done.output
    assert run("export", filled, "anywhere").exit_code == 1


def test_ledger_that_is_not_there_is_one_line_and_not_created(tmp_path):
    for arguments in (("show",), ("verify",), ("export", tmp_path / "file")):
        done = run(arguments[0], tmp_path / "none.db", *arguments[1:])
        assert done.exit_code == 1
        assert "is not there" in done.output
        assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []
