"""Questions take a short way past the application; nobody can tell which way an answer came."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from load import load
from running import Inside, count

from bocage.accounting import Action
from bocage.service import fast_path
from bocage.service.core import questions, strict_json

QUERY = "/v1/tables/people/query"
JSON = {"Content-Type": "application/json"}
BODIES = {
    "in order": json.dumps(count("0.5")),
    "priced": json.dumps(count("0.5", mode="preview")),
    "too dear": json.dumps(count("60")),
    "no such column": json.dumps(count("0.5", {"op": "where", "predicate": "x = 1"})),
    "a member too many": json.dumps(count("0.5", more=1)),
    "another type": json.dumps({"ask": {"kind": "noisy_count", "epsilon": [1]}}),
    "no JSON": "{",
    "a name twice": '{"ask": {}, "ask": {}}',
    "too deep": "[" * 100 + "]" * 100,
    "empty": "",
}


@pytest.mark.parametrize("name", BODIES)
def test_both_ways_say_the_same(made, ann, monkeypatch, name):
    service = Inside(made.opened())
    replies = []
    for _ in range(2):
        reply = service.client.post(QUERY, content=BODIES[name], headers={**ann, **JSON})
        headers = {key: reply.headers[key] for key in reply.headers if key != "date"}
        replies.append((reply.status_code, reply.json(), headers))
        monkeypatch.setattr(fast_path, "_read", lambda *_: None)  # now by way of the application
    service.stop()
    if name == "in order":  # asked again, it is free
        assert [reply[1].pop("kind") for reply in replies] == ["release", "stored"]
        assert [reply[1].pop("cost") for reply in replies] == ["0.5", "0"]
        replies = [(status, body, None) for status, body, _ in replies]
    assert replies[0] == replies[1]


def test_a_body_that_came_before_is_read_once_and_a_long_one_is_not_kept(serve, ann, bob, monkeypatch):
    read = []
    parse = strict_json.parse
    monkeypatch.setattr(strict_json, "parse", lambda *given: read.append(given) or parse(*given))
    fast_path._request_kept.cache_clear()
    client, long = serve(), count("0.25", {"op": "where", "predicate": "age >= 3" + " " * 5000})
    replies = [client.post(QUERY, json=body, headers=who) for body in (count("0.5"), long) for who in (ann, bob, ann)]
    assert [reply.status_code for reply in replies] == [200] * 6
    kinds = [reply.json()["kind"] for reply in replies]
    assert kinds == ["release", "release", "stored"] * 2  # each analyst has an own account
    assert len(read) == 1 + 3
    assert fast_path._request_kept.cache_info().maxsize == fast_path._MOST_KEPT


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_other_methods_are_left_to_the_application(serve, ann, method):
    assert serve().request(method, QUERY, headers=ann).status_code == 405


def test_the_log_and_the_metrics_name_the_route(serve, ann):
    client = serve()
    client.post(QUERY, json=count(), headers=ann)
    assert f'route="{QUERY.replace("people", "{table}")}"' in client.get("/metrics").text


def test_clients_that_ask_at_once_are_each_charged_once(made):
    key = made.analyst("ann")
    service = Inside(made.opened(threads=4))
    port = service.client.base_url.port
    times = load(port, key, 8, 0.5, json.dumps(count("0.001", fresh=True)))
    with made.owner() as owner:
        charges = [e for e in owner.ledger.entries() if e.action is Action.CHARGE]
        assert owner.ledger.verify().ok
    service.stop()
    assert 0 < len(times) <= len(charges) <= len(times) + 8  # the last answers came too late
    assert len({entry.request for entry in charges}) == len(charges)


def test_one_key_leaves_threads_to_the_others(made, ann, bob, monkeypatch):
    """Of four threads, six questions of one analyst that take long have three."""
    held, begun, query = threading.Event(), threading.Semaphore(0), questions.query

    def slow(service, analyst, *given, **more):
        if analyst == "ann":
            begun.release()
            held.wait(60)
        return query(service, analyst, *given, **more)

    monkeypatch.setattr(questions, "query", slow)
    service = Inside(made.opened(threads=4))
    with ThreadPoolExecutor(6) as pool:
        ask = partial(service.client.post, QUERY, json=count("0.01"))
        asked = [pool.submit(ask, headers=ann) for _ in range(6)]
        for _ in range(3):
            assert begun.acquire(timeout=60)
        assert not begun.acquire(timeout=0.5)
        assert ask(headers=bob).status_code == 200
        held.set()
        assert [one.result().status_code for one in asked] == [200] * 6
    service.stop()
