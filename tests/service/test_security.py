"""What an attacker with or without a key may try."""

from __future__ import annotations

import hmac
import json
import logging
import re
import time

import pytest
from running import bearer, count

from bocage.errors import ServiceError
from bocage.service.core.registry import KEY, key_digest, matching, new_id, new_key
from bocage.service.settings import Settings

PEOPLE = "/v1/tables/people"
QUERY = f"{PEOPLE}/query"


def code(reply):
    return reply.status_code, reply.json()["error"]["code"]


def test_without_a_valid_key_nothing_is_told(serve, made, ann):
    client = serve()
    key = made.keys["ann"]
    for header in (
        {},
        {"Authorization": key},
        {"Authorization": f"Basic {key}"},
        {"Authorization": f"Bearer {key[:-1]}0" if key[-1] != "0" else f"Bearer {key[:-1]}1"},
        {"Authorization": f"Bearer {key} "[:-2]},
        {"Authorization": f"Bearer {key.upper()}"},
        {"Authorization": "Bearer bocage_' OR 1=1 --"},
    ):
        for path in ("/v1/me", PEOPLE, "/v1/nowhere", "/v1/models/x"):
            reply = client.get(path, headers=header)
            assert code(reply) == (401, "access_denied")
            assert reply.headers["www-authenticate"] == "Bearer"
        # Not even a body is looked at.
        assert client.post(QUERY, content=b"{", headers=header).status_code == 401
    assert client.get("/v1/me", headers=ann).status_code == 200


def test_keys_are_compared_whole_in_constant_time(monkeypatch):
    compared = []
    constant_time = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or constant_time(a, b))
    right, wrong = key_digest("right"), key_digest("wrong")
    assert matching(right, [wrong, right, wrong]) == right
    assert len(compared) == 4  # all of them, and one more so that none is never
    assert matching(right, []) is None
    assert len(compared) == 5


def test_a_key_has_256_random_bits_and_is_kept_as_a_hash(made, ann):
    key = made.keys["ann"]
    assert KEY.fullmatch(key)
    files = [path for path in made.path.iterdir() if path.is_file()]
    secrets = (key.encode(), key.removeprefix("bocage_").encode())
    assert not any(secret in path.read_bytes() for path in files for secret in secrets)
    assert all(path.stat().st_mode & 0o077 == 0 for path in [made.path, *files])


def test_a_rotated_key_ends_at_once_and_a_revoked_analyst_is_shut_out(serve, made, ann):
    client = serve()
    with made.owner() as owner:
        renewed = bearer(owner.registry.rotate("ann"))
    assert client.get("/v1/me", headers=ann).status_code == 401
    assert client.get("/v1/me", headers=renewed).status_code == 200
    with made.owner() as owner:
        owner.revoke("ann")
    assert code(client.get("/v1/me", headers=renewed)) == (403, "scope_closed")
    assert code(client.post(QUERY, json=count(), headers=renewed)) == (403, "scope_closed")


def test_a_frozen_table_answers_nothing_until_it_is_thawed(serve, made, ann):
    client = serve()
    first = client.post(QUERY, json=count(), headers=ann).json()
    with made.owner() as owner:
        owner.freeze("people")
    assert code(client.post(QUERY, json=count(), headers=ann)) == (403, "scope_closed")
    assert client.get("/v1/me", headers=ann).json()["tables"][0]["state"] == "frozen"
    with made.owner() as owner:
        owner.thaw("people")
    assert client.post(QUERY, json=count(), headers=ann).json()["values"] == first["values"]


def test_nobody_sees_what_belongs_to_another(serve, made, ann, bob):
    client = serve()
    learn = {"learner": "rdt", "parameters": {"trees": 1, "height": 1}, "epsilon": "1"}
    job = client.post(f"{PEOPLE}/learn", json=learn, headers=ann).json()["job"]
    client.post(QUERY, json=count(), headers=ann)
    while (mine := client.get(f"/v1/jobs/{job}", headers=ann).json())["state"] != "done":
        time.sleep(0.02)
    model = mine["model"]
    forms = ("", "/rules", "/svg", "/text", "/sql", "/javascript", "/certificate")
    paths = [
        f"/v1/jobs/{job}",
        f"/v1/jobs/{job}/events",
        *(f"/v1/models/{model}{f}" for f in forms),
    ]
    for path in paths:
        assert client.get(path, headers=ann).status_code == 200
        assert code(client.get(path, headers=bob)) == (404, "not_found")
    assert code(client.delete(f"/v1/jobs/{job}", headers=bob)) == (404, "not_found")
    leaves = count("1", {"op": "partition_tree", "model": model})
    assert code(client.post(QUERY, json=leaves, headers=bob)) == (404, "not_found")
    assert client.get("/v1/jobs", headers=bob).json() == []
    assert client.get("/v1/models", headers=bob).json() == []
    assert [line["action"] for line in client.get("/v1/ledger", headers=bob).json()["lines"]] == ["open"]
    assert client.post(QUERY, json=count(), headers=bob).json()["kind"] == "release"  # not ann's
    # A hash of the chain would confirm a guess of the line before, which may be another's.
    assert not {"hash", "previous"} & set(client.get("/v1/ledger", headers=bob).json()["lines"][0])


def test_a_table_of_others_is_as_little_there_as_none(serve, made, ann):
    client = serve()
    stranger = bearer(made.analyst("stranger", budget=None))
    for table in ("people", "nothing"):
        told = client.post(f"/v1/tables/{table}/query", json=count(), headers=stranger)
        assert code(told) == (404, "not_found")
        assert told.json()["error"]["message"].replace(table, "") == (
            "there is no table '' for this key. GET /v1/tables lists yours."
        )
    assert client.get("/v1/tables", headers=stranger).json() == []


def test_ids_cannot_be_guessed(serve, ann):
    client = serve()
    plans = [{"plan": [{"op": "partition", "by": by}]} for by in ("sex", "city")]
    handles = [client.post(f"{PEOPLE}/partitions", json=plan, headers=ann).json()["handle"] for plan in plans]
    assert all(len(bytes.fromhex(handle)) == 16 for handle in handles)
    assert len({new_id() for _ in range(1000)}) == 1000


def test_each_key_has_its_own_rate(serve, ann, bob):
    client = serve(requests_per_second=0.1, burst=3)
    told = [client.get("/v1/me", headers=ann) for _ in range(5)]
    assert [reply.status_code for reply in told] == [200, 200, 200, 429, 429]
    assert code(told[-1])[1] == "rate_limited"
    assert 1 <= int(told[-1].headers["retry-after"]) <= 10
    assert client.get("/v1/me", headers=bob).status_code == 200


def test_guessing_keys_is_slowed_down(serve, ann):
    client = serve()
    guesses = [client.get("/v1/me", headers=bearer(new_key())) for _ in range(80)]
    assert guesses[0].status_code == 401
    assert guesses[-1].status_code == 429
    assert client.get("/v1/me", headers=ann).status_code == 200


HOSTILE = [
    (b'{"ask": {"kind": "noisy_count", "epsilon": 1, "epsilon": 2}}', 400),
    (b'{"plan": [], "plan": [], "ask": {"kind": "noisy_count", "epsilon": 1}}', 400),
    (b"[" * 100_000, 400),
    (b'{"plan":' + b"[" * 40 + b"]" * 40 + b"}", 400),
    (b'{"ask": {"kind": "noisy_count", "epsilon": NaN}}', 400),
    (b'{"ask": {"kind": "noisy_count", "epsilon": 1' + b"0" * 5000 + b"}}", 400),
    (b'{"ask": {"kind": "noisy_count", "epsilon": 1e999}}', 400),
    (b'{"ask": {"kind": "noisy_count", "epsilon": -1}}', 400),
    (b'{"ask": {"kind": "noisy_count", "epsilon": true}}', 422),
    (b'{"ask": {"kind": "noisy_count", "epsilon": "1", "extra": 1}}', 422),
    (b'{"ask": {"kind": "noisy_counts", "by": "\\ud800", "epsilon": 1}}', 400),
    (b'{"ask": {"kind": "noisy_counts", "by": "\\u0000", "epsilon": 1}}', 400),
    (b"\xff\xfe", 400),
    (b"", 422),
    (b"null", 422),
    (b'{"plan": [' + b'{"op":"where","predicate":"age<3"},' * 65 + b"]}", 400),
    (json.dumps(count("1", *[{"op": "where", "predicate": "age<3"}] * 65)).encode(), 422),
    (json.dumps(count("1", {"op": "where", "predicate": "(" * 60_000})).encode(), 400),
    (b'{"x": "' + b"x" * 2_000_000 + b'"}', 413),
]


def test_hostile_bodies_are_refused_before_the_charge(serve, ann):
    client = serve()
    headers = {**ann, "content-type": "application/json"}
    for body, status in HOSTILE:
        reply = client.post(QUERY, content=body, headers=headers)
        assert reply.status_code == status, (body[:80], reply.text)
        assert set(reply.json()["error"]) == {"code", "message", "hint"}
    assert client.get("/v1/me", headers=ann).json()["tables"][0]["spent"] == "0"


def test_a_body_without_length_is_cut_off(serve, ann):
    client = serve(body_bytes=2048)
    endless = (b" " * 1000 for _ in range(10_000))
    assert client.post(QUERY, content=endless, headers=ann).status_code == 413


def test_a_partition_cannot_be_made_to_burst(serve, ann):
    client = serve()
    steps = [{"op": "partition", "by": "age"}] * 8
    assert code(client.post(QUERY, json=count("1", *steps), headers=ann)) == (400, "plan_error")


PATHS = [
    "/v1/../settings.toml",
    "/v1/tables/../../settings.toml",
    "/v1/tables/..%2f..%2fsettings.toml",
    "/v1/tables/%2e%2e/%2e%2e/etc/passwd",
    "/v1/models/..%2f..%2fregistry.sqlite",
    "/v1/tables/people%00",
    "/static/../settings.toml",
    "//etc/passwd",
]


def test_no_path_leads_out_of_the_service(serve, ann):
    client = serve()
    for path in PATHS:
        reply = client.get(path, headers=ann)
        assert reply.status_code in (401, 404, 422), path
        assert "signing" not in reply.text


def test_every_answer_has_strict_headers(serve, ann):
    client = serve()
    for reply in (
        client.get("/v1/me", headers=ann),
        client.get("/v1/me"),
        client.get("/nowhere"),
        client.get("/health"),
        client.put("/v1/me", headers=ann),
    ):
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in reply.headers


def test_metrics_are_for_this_machine_and_hold_no_data(serve, ann):
    client = serve()
    client.post(QUERY, json=count("1", {"op": "where", "predicate": "age = 7"}), headers=ann)
    text = client.get("/metrics").text
    assert 'route="/v1/tables/{table}/query",status="200"' in text
    assert "people" not in text
    assert "ann" not in text
    assert client.get("/metrics", headers={"X-Forwarded-For": "10.0.0.1"}).status_code == 404


def test_the_log_has_no_key_no_question_and_no_answer(serve, made, ann, caplog):
    caplog.set_level(logging.DEBUG, logger="bocage")
    client = serve()
    where = {"op": "where", "predicate": "city = 'Nice' and age < 7"}
    answer = client.post(QUERY, json=count("0.123456789", where), headers=ann).json()
    client.post(QUERY, content=b'{"secret": 4711}', headers=ann)
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert "POST /v1/tables/{table}/query 200" in text
    text = re.sub(r"\d+ ms", "", text)  # the time of an answer may be the same number as the answer
    for secret in (made.keys["ann"], "Nice", "0.123456789", f" {answer['values'][0]} ", "4711"):
        assert secret not in text


def test_plain_http_is_refused_on_other_addresses_unless_told(tmp_path):
    for host in ("0.0.0.0", "192.168.1.5", "::", "example.org"):  # noqa: S104 - that is the test
        with pytest.raises(ServiceError, match="not a loopback address"):
            Settings(host=host).check()
        Settings(host=host, behind_tls_proxy=True).check()
        Settings(host=host, tls_certificate="a.pem", tls_key="b.pem").check()
    for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"):
        Settings(host=host).check()
