"""Released values that are kept, as SQL inside one transaction, and whether they are all there.

The chain does not hold them: they are many, and are written by one statement that waits for nobody.
Each carries a seal under the secret of the ledger, and `tally` counts them and adds the seals up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bocage.accounting.entry import check_key
from bocage.accounting.scope import Scope
from bocage.accounting.secret import MODULUS, Secret
from bocage.accounting.sql_schema import FIELDS, ORDER, all_rows
from bocage.errors import LedgerError
from bocage.storage import Run

_INSERT = {
    names: "INSERT INTO answers (scope, key, body, entry, seal) "
    "SELECT scope, names.column1, ?, number, names.column2 "
    f"FROM entries, (VALUES {', '.join(['(?, CAST(? AS BIGINT))'] * names)}) AS names "
    "WHERE number = ? AND scope = ? AND action = 'charge' "
    "ON CONFLICT (scope, key) DO NOTHING RETURNING key"
    for names in (1, 2)
}


def store(
    run: Run,
    secret: Secret,
    scope: Scope,
    key: str,
    body: bytes,
    *,
    number: int,
    also: str | None = None,
) -> bytes:
    """Keep an answer under one key or two; return the one that is kept under the first."""
    names = [check_key(key)] if also in {None, key} else [check_key(key), check_key(str(also))]
    sealed = ((name, secret.seal("answers", scope.key, name, number, body)) for name in names)
    inserted = run(
        _INSERT[len(names)],
        body,
        *(field for name_and_seal in sealed for field in name_and_seal),
        number,
        scope.key,
    )
    if (key,) in inserted:
        return body
    paid = "SELECT 1 FROM entries WHERE number = ? AND scope = ? AND action = 'charge'"
    if not run(paid, number, scope.key):
        raise LedgerError(f"entry {number} is not a charge of {scope.title}: it pays for no answer there.")
    kept = find(run, scope, key)
    return body if kept is None else kept


def find(run: Run, scope: Scope, key: str) -> bytes | None:
    rows = run("SELECT body FROM answers WHERE scope = ? AND key = ?", scope.key, key)
    return bytes(rows[0][0]) if rows else None


def find_paid(run: Run, scope: Scope, number: int) -> bytes | None:
    rows = run("SELECT body FROM answers WHERE scope = ? AND entry = ? LIMIT 1", scope.key, number)
    return bytes(rows[0][0]) if rows else None


def check(run: Run, tables: set[str], report: Callable[[str], None]) -> None:
    """Report what is wrong with the rows that carry seals."""
    if "answers" in tables and run(
        "SELECT 1 FROM answers LEFT JOIN entries "
        "ON entries.number = answers.entry AND entries.scope = answers.scope "
        "WHERE COALESCE(action, '') <> 'charge' LIMIT 1"
    ):
        report("an answer on record names no charge of its scope.")
    if not {"secret", "tally"} <= tables:  # an older format, or damage that is reported as such
        return
    secrets = run("SELECT value FROM secret")
    tallies: dict[Any, Any] = {name: counted for name, *counted in run("SELECT * FROM tally")}
    if len(secrets) != 1:
        report("the secret of the ledger is gone.")
        return
    secret = Secret(bytes(secrets[0][0]))
    for table in sorted(tables & FIELDS.keys()):
        number, seals, changed = 0, 0, 0
        for *fields, seal in all_rows(run, table, (*FIELDS[table], "seal"), ORDER[table]):
            number, seals = number + 1, (seals + int(seal)) % MODULUS
            changed += seal != secret.seal(table, *fields)
        if changed:
            report(f"{changed} of the {table} were changed after they were written.")
        if tallies.get(table) != [number, seals]:
            report(f"{table} were taken away or added: there are {number}.")
