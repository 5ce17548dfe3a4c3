"""Questions over HTTP give what a local table gives, and cost what they say."""

from __future__ import annotations

from running import count

from bocage.accounting import Scope, open_ledger
from bocage.private import Answer

PEOPLE = "/v1/tables/people"


def ask(client, who, body, **headers):
    return client.post(f"{PEOPLE}/query", json=body, headers={**who, **headers})


def question(kind, *plan, epsilon="1", **arguments):
    return {"plan": list(plan), "ask": {"kind": kind, "epsilon": epsilon, **arguments}}


def test_a_count_is_released_charged_and_numbered(serve, made, ann):
    client = serve()
    reply = ask(client, ann, count("0.5", {"op": "where", "predicate": "sex = 'F'"}))
    assert reply.status_code == 200
    answer = Answer.from_json(reply.content)
    assert (answer.cost, answer.kind, answer.remaining) == ("0.5", "release", "49.5")
    # Noise of scale 2 is beyond 100 with probability below exp(-50).
    assert abs(answer.value - 8) <= 100
    with open_ledger(made.path / "ledger.sqlite") as ledger:
        entry = ledger.entries(after=answer.entry - 1, limit=1)[0]
    assert (entry.scope, str(entry.epsilon)) == (("people", "ann"), "0.5")


def test_the_same_question_comes_back_free(serve, ann):
    client = serve()
    first, again = (ask(client, ann, count()).json() for _ in range(2))
    assert (again["kind"], again["cost"], again["values"]) == ("stored", "0", first["values"])
    fresh = ask(client, ann, count(fresh=True)).json()
    assert (fresh["kind"], fresh["cost"]) == ("release", "0.5")


def test_every_kind_of_question_is_answered(serve, ann):
    client = serve()
    split = {"op": "partition", "by": "sex"}
    for body in (
        question("noisy_counts", by="city"),
        question("noisy_counts", by=["city", "sex"]),
        question("noisy_sum", column="age"),
        question("noisy_avg", split, column="age"),
        question("noisy_quantile", column="age", level="0.25"),
        question("noisy_mode", column="city", selection="exponential"),
        question("choose", split, among=["city", "age"], criterion="max"),
        question("choose", split, among=[["city"], ["age"]], criterion="gini", label="buys"),
    ):
        reply = ask(client, ann, body)
        assert reply.status_code == 200, reply.text
        assert len(reply.json()["values"]) == len(reply.json()["keys"])
    assert ask(client, ann, question("choose", among=["city"], criterion="max")).json()["splits"]


def test_plans_chain_filters_partitions_parts_and_splits_in_any_order(serve, ann):
    client = serve()
    plan = [
        {"op": "where", "predicate": "age < 9"},
        {"op": "partition", "by": "sex"},
        {"op": "part", "key": "F"},
        {"op": "where", "predicate": "city != 'Nice'"},
        {"op": "partition", "by": "age", "edges": [3, 6]},
        {"op": "split", "splits": [{"cell": 1, "column": "age", "threshold": 5}]},
    ]
    reply = ask(client, ann, count("1", *plan))
    assert reply.json()["keys"] == ["[3, 6) / age < 5", "[3, 6) / age >= 5"]


def test_steps_out_of_order_are_refused_before_the_charge(serve, ann):
    client = serve()
    for plan in (
        [{"op": "part", "key": "F"}],
        [{"op": "partition", "by": "sex"}, {"op": "where", "predicate": "age < 3"}],
        [{"op": "partition", "by": "sex"}, {"op": "part", "key": "X"}],
        [{"op": "partition", "by": "sex"}, {"op": "split", "splits": []}],
        [{"op": "where", "predicate": "age <"}],
        [{"op": "where", "predicate": "secret = 1"}],
    ):
        reply = ask(client, ann, count("1", *plan))
        assert reply.status_code == 400
        assert reply.json()["error"]["code"] in ("plan_error", "predicate_error")
    assert client.get("/v1/me", headers=ann).json()["tables"][0]["spent"] == "0"


def test_parts_of_a_kept_partition_cost_their_maximum_after_a_restart_too(serve, ann, bob):
    client = serve()
    plan = {"plan": [{"op": "partition", "by": "sex"}]}
    kept = client.post(f"{PEOPLE}/partitions", json=plan, headers=ann).json()
    assert kept["keys"] == ["F", "M"]
    assert client.post(f"{PEOPLE}/partitions", json=plan, headers=ann).json() == kept
    for worker in (client, serve()):  # the second one starts anew on the same home
        for part, epsilon in (("F", "1"), ("M", "0.5")):
            steps = [{"op": "handle", "handle": kept["handle"]}, {"op": "part", "key": part}]
            assert ask(worker, ann, count(epsilon, *steps, fresh=True)).status_code == 200
    assert client.get("/v1/me", headers=ann).json()["tables"][0]["spent"] == "2"
    shown = client.get(f"/v1/partitions/{kept['handle']}", headers=ann).json()
    assert shown == kept
    assert client.get(f"/v1/partitions/{kept['handle']}", headers=bob).status_code == 404
    stolen = ask(client, bob, count("1", {"op": "handle", "handle": kept["handle"]}))
    assert stolen.json()["error"]["code"] == "not_found"


def test_a_preview_and_a_dry_run_cost_nothing_and_say_so(serve, ann):
    client = serve()
    preview = ask(client, ann, count(mode="preview")).json()
    assert (preview["kind"], preview["values"], preview["cost"]) == ("preview", [None], "0.5")
    dry = ask(client, ann, count(mode="dry_run", rows=40)).json()
    assert (dry["kind"], dry["entry"], dry["remaining"]) == ("dry run", None, None)
    too_many = ask(client, ann, count(mode="dry_run", rows=10**9))
    assert too_many.status_code == 400
    assert client.get("/v1/me", headers=ann).json()["tables"][0]["spent"] == "0"


def test_both_caps_hold_and_the_refusal_says_what_is_left(serve, made, ann):
    with made.owner() as owner:
        owner.set_cap("people", "1.2")
        owner.grant("ann", "people", "1")
    client = serve()
    reply = ask(client, ann, count("1.1"))
    assert reply.status_code == 403
    assert reply.json()["error"]["code"] == "budget_exceeded"
    assert "1 left of 1" in reply.json()["error"]["message"]
    cid = {"Authorization": f"Bearer {made.analyst('cid', '1')}"}
    assert ask(client, ann, count("1")).status_code == 200
    reply = ask(client, cid, count("0.3"))
    assert "0.2 left of 1.2" in reply.json()["error"]["message"]
    with open_ledger(made.path / "ledger.sqlite") as ledger:
        assert str(ledger.spent(Scope.table("people"))) == "1"


def test_own_lines_of_the_ledger_come_in_pages(serve, ann, bob):
    client = serve()
    for i in range(5):
        ask(client, ann, count("0.1", {"op": "where", "predicate": f"age >= {i}"}))
        ask(client, bob, count("0.2"))
    lines, after = [], 0
    while after is not None:
        query = f"/v1/ledger?limit=2&after={after}"
        page = client.get(query, headers=ann).json()
        lines, after = lines + page["lines"], page["next"]
    assert [line["action"] for line in lines] == ["open", *["charge"] * 5]
    assert {tuple(line["scope"]) for line in lines} == {("people", "ann")}
    assert [line["epsilon"] for line in lines] == ["50", *["0.1"] * 5]


def test_a_table_shows_its_public_schema_and_nothing_of_its_source(serve, made, ann):
    client = serve()
    (table,) = client.get("/v1/tables", headers=ann).json()
    assert client.get(PEOPLE, headers=ann).json() == table
    assert table["schema"]["attributes"][0]["name"] == "sex"
    assert (table["adjacency"], table["state"], table["ready"]) == ("add_remove", "open", True)
    assert "diffpc45" in table["learners"]
    assert str(made.rows) not in str(table)
