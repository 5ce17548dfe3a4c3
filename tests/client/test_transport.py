"""A bad line: requests are made again, and charged once."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import time

import pytest
from flaky import flaky

import bocage
from bocage.client import transport
from bocage.errors import (
    AccessDenied,
    BudgetExceeded,
    EngineError,
    PlanError,
    RateLimited,
    ServiceError,
    Unreachable,
)


@pytest.fixture
def server():
    with flaky() as running:
        yield running


@pytest.fixture
def people(server):
    with bocage.connect(server.url, "secret", patience_seconds=5) as connection:
        table = connection["people"]
        server.seen.clear()
        yield table


def asked(server):
    return [key for method, path, key, _ in server.seen if path.endswith("/query")]


@pytest.mark.parametrize("mood", [["cut"], ["late"], ["late", "cut", "late"]])
def test_a_question_whose_answer_is_lost_is_made_again_under_the_same_key(server, people, mood):
    server.mood = list(mood)
    assert people.noisy_count("0.1").value == 7
    keys = asked(server)
    assert len(keys) == len(mood) + 1
    assert len(set(keys)) == 1
    assert len(server.charges) == 1


def test_two_questions_have_two_keys_also_if_they_are_the_same(server, people):
    people.noisy_count("0.1", fresh=True)
    people.noisy_count("0.1", fresh=True)
    assert len(server.charges) == 2


def busy(code):
    return {"error": {"code": code, "message": "busy.", "hint": ""}}


@pytest.mark.parametrize(
    ("status", "body"),
    [(429, busy("rate_limited")), (503, busy("ledger_busy")), (503, busy("unavailable"))]
    + [(status, b"<html>a proxy</html>") for status in (502, 503, 504)],
)
def test_a_service_that_is_busy_is_asked_again(server, people, status, body):
    server.mood = [(status, body, {}), (status, body, {"Retry-After": "0"})]
    assert people.noisy_count("0.1").value == 7
    assert len(asked(server)) == 3
    assert len(set(asked(server))) == 1


def test_an_answer_that_failed_after_its_charge_is_finished_by_asking_again(server, people):
    server.mood = [(503, busy("engine_error"), {})]
    with pytest.raises(EngineError):
        people.noisy_count("0.1")
    assert people.noisy_count("0.1").value == 7
    assert len(set(asked(server))) == 1


def test_the_time_that_the_service_asks_for_is_waited(server, people):
    slow_down = {"error": {"code": "rate_limited", "message": "slow down.", "hint": ""}}
    server.mood = [(429, slow_down, {"Retry-After": "1"})]
    started = time.monotonic()
    people.noisy_count("0.1")
    assert time.monotonic() - started >= 1


def test_beyond_patience_the_refusal_of_the_service_is_told(server):
    slow_down = {"error": {"code": "rate_limited", "message": "slow down.", "hint": ""}}
    with bocage.connect(server.url, "secret", patience_seconds=0.5) as connection:
        table = connection["people"]
        server.mood = [(429, slow_down, {"Retry-After": "60"})]
        with pytest.raises(RateLimited, match=r"slow down\."):
            table.noisy_count("0.1")


def test_a_question_that_was_given_up_is_the_same_question_when_asked_again(server):
    with bocage.connect(server.url, "secret", patience_seconds=0) as connection:
        table = connection["people"]
        server.mood = ["late"]
        with pytest.raises(Unreachable, match="Ask the same again on this connection"):
            table.noisy_count("0.1")
        assert table.noisy_count("0.1").value == 7
        table.noisy_count("0.1")
    first, again, another = asked(server)
    assert first == again != another
    assert len(server.charges) == 2


def test_a_request_that_takes_too_long_is_a_lost_one(server):
    with bocage.connect(server.url, "secret", timeout_seconds=0.3, patience_seconds=5) as connection:
        table = connection["people"]
        server.mood = ["slow"]
        assert table.noisy_count("0.1").value == 7
    assert len(server.charges) == 1
    assert len(asked(server)) == 2


def test_a_refusal_is_the_error_that_a_local_table_raises(server, people):
    local = BudgetExceeded("analyst 'ann' of 'people'", asked="2", left="0.75", cap="1")
    body = {"code": "budget_exceeded", "message": str(local), "hint": "Lower epsilon."}
    server.mood = [(403, {"error": body}, {})]
    with pytest.raises(BudgetExceeded, match=r"Nothing was charged\.$") as refused:
        people.noisy_count(2)
    assert vars(refused.value) == vars(local)
    assert len(asked(server)) == 1  # a refusal is an answer


def test_a_refusal_of_a_newer_service_is_a_service_error(server, people):
    body = {"code": "made_up_tomorrow", "message": "something new.", "hint": ""}
    server.mood = [(400, {"error": body}, {})]
    with pytest.raises(ServiceError, match=r"^something new\.$"):
        people.noisy_count("0.1")


def test_what_no_service_can_answer_is_refused_without_asking(server, people):
    with pytest.raises(PlanError, match="no column 'height'"):
        people.noisy_sum("height", "0.1")
    assert server.seen == []


def test_a_wrong_key_is_told_at_once(server):
    with pytest.raises(AccessDenied, match="the key is not known"):
        bocage.connect(server.url, "wrong")


@pytest.mark.parametrize(
    "answer",
    [(404, b"<html>not here</html>", {}), (200, b"<html>hello</html>", {}), (200, {"a": 1}, {})],
    ids=["404", "html", "json"],
)
def test_another_program_at_the_address_is_no_service(server, answer):
    server.mood = [answer]
    with pytest.raises(ServiceError, match="version 1"):
        bocage.connect(server.url, "secret")


def test_nobody_at_the_address_is_told_with_the_address():
    with flaky() as gone:
        url = gone.url
    with pytest.raises(Unreachable, match=f"{url} did not answer"):
        bocage.connect(url, "secret", patience_seconds=0.2)


def test_a_certificate_that_nobody_signed_is_refused(server):
    # A plain server at an https address stands for any that cannot prove who it is.
    with pytest.raises(Unreachable, match="ConnectError"):
        bocage.connect(server.url.replace("http:", "https:"), "secret", patience_seconds=0)
    link = transport.Transport("https://x", "k", timeout_seconds=1, patience_seconds=0)
    context = link._http._transport._pool._ssl_context
    assert context.check_hostname
    assert context.verify_mode.name == "CERT_REQUIRED"
    link.close()


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("ftp://example.org", PlanError, "begins with https://"),
        ("https://", PlanError, "begins with https://"),
        ("https://me:key@example.org", PlanError, "no user"),
        ("https://example.org/?key=1", PlanError, "no user, query"),
        ("http://example.org", ServiceError, "everyone on the way"),
        ("http://10.0.0.1:8400", ServiceError, "plain=True"),
    ],
)
def test_an_address_that_is_wrong_or_unsafe_is_refused_before_the_key_is_sent(url, error, words):
    with pytest.raises(error, match=words):
        bocage.connect(url, "secret")


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "schlüssel"])
def test_a_key_that_is_none_is_refused(server, key):
    with pytest.raises(AccessDenied, match="BOCAGE_KEY"):
        bocage.connect(server.url, key)
    assert server.seen == []


def test_the_key_may_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("BOCAGE_KEY", "secret")
    with bocage.connect(server.url) as connection:
        assert connection.tables() == ("people",)


def test_the_key_is_in_no_repr_log_or_message(server, caplog):
    caplog.set_level(logging.DEBUG)
    with bocage.connect(server.url, "secret", patience_seconds=0) as connection:
        table = connection["people"]
        server.mood = ["cut"]
        with pytest.raises(Unreachable) as lost:
            table.noisy_count("0.1")
        shown = [repr(connection), repr(table), repr(connection._link), str(lost.value)]
        shown += [repr(table.partition("sex")), caplog.text]
    assert "ann" in shown[0]
    assert [text for text in shown if "secret" in text] == []
    with pytest.raises(TypeError):  # the key does not go into files by accident
        pickle.dumps(connection)


def test_a_table_shows_itself_also_when_the_service_is_gone(server, people):
    assert repr(people) == f"<RemoteTable 'people' at {server.url}, epsilon 0.75 left>"
    server.mood = ["cut"]
    assert repr(people) == f"<RemoteTable 'people' at {server.url}>"


def test_delays_grow_and_are_not_the_same_for_all():
    delays = [transport._delay(tries) for tries in range(1, 30)]
    assert 0.05 <= delays[0] <= 0.1
    assert max(delays) <= 5
    assert len(set(delays)) == len(delays)


def test_without_httpx_the_way_out_is_told():
    program = "import sys; sys.modules['httpx'] = None; import bocage; bocage.connect"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ServiceError: a connection needs the package httpx" in done.stderr
    assert "pip install 'bocage[client]'" in done.stderr
