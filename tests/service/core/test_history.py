"""The ledger in words: which rows were asked about, in the values of the schema."""

from __future__ import annotations

from running import bearer, count


def test_a_line_says_which_rows_were_asked_about(made, serve):
    from bocage.accounting import Scope
    from bocage.service.core import history
    from bocage.service.core.directory import Home

    client = serve()
    key = made.analyst("ann")
    where = {"op": "where", "predicate": "age >= 3 and sex = 'F'"}
    learn = {"learner": "diffpid3", "parameters": {"depth": 1, "attributes": ["sex"]}}
    for address, body in (
        ("query", count("0.5", where)),
        ("query", count("0.25")),
        ("learn", {**learn, "epsilon": "1", "plan": [where]}),
    ):
        answer = client.post(f"/v1/tables/people/{address}", json=body, headers=bearer(key))
        assert answer.status_code in (200, 202)
    home = Home.open(made.path, environment={})
    with home.open_ledger() as ledger, made.owner() as owner:
        schemas = {table.scope: table.schema for table in owner.registry.tables()}
        entries = [e for e in ledger.entries(Scope.table("people")) if e.action == "charge"]
    told = [line.what for line in history.lines(entries, schemas)]
    assert told == [
        "learn with diffpid3 where age from 3 to 9 and sex in (F)",
        "count",
        "count where age from 3 to 9 and sex in (F)",
    ]
    assert "age in 3..9 and sex in 0..0" in history.lines(entries, {})[-1].what
    assert "where age from 3 to 9" in history.to_csv(entries, schemas)
