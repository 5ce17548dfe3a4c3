"""Real `bocage serve` processes: several workers, deaths in mid-air, signals."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from running import Made, Running, bearer, count, running, wait_for_job

from bocage.accounting import Scope, open_ledger
from servers import wait_until

PEOPLE = "/v1/tables/people"


def test_workers_never_spend_more_than_the_caps_and_log_no_secret(made):
    with made.owner() as owner:
        owner.set_cap("people", "3")
    keys = [made.analyst(name, "2") for name in ("ann", "bob")]
    with running(made, workers=2) as service:

        def ask(number):
            with service.client(keys[number % 2]) as client:
                body = count("0.100000000", fresh=True)
                return client.post(f"{PEOPLE}/query?key={keys[0]}", json=body).status_code

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(ask, range(60)))
        assert told.count(200) == 30  # 3 / 0.1, by both analysts together
        assert told.count(403) == 30
        workers = psutil.Process(service.process.pid).children(recursive=True)
        assert len(workers) >= 2
        text = httpx.get(f"{service.url}/metrics").text
        assert 'route="/v1/tables/{table}/query",status="403"} 30.0' in text  # of all workers
    with open_ledger(made.path / "ledger.sqlite") as ledger:
        assert str(ledger.spent(Scope.table("people"))) == "3"
        assert ledger.verify().ok
    log = service.log.read_text()
    assert "POST /v1/tables/{table}/query 200" in log
    assert not any(secret in log for secret in (*keys, "0.100000000", "Traceback"))


def test_a_killed_worker_leaves_the_charge_and_a_failed_job(made, tmp_path):
    key = made.analyst("ann")
    # So slow a schedule that the job is surely under way when its worker dies.
    with running(made, job_padding_milliseconds=20_000) as service:
        with service.client(key) as client:
            body = {"learner": "diffpc45", "parameters": {"depth": 2}, "epsilon": "2"}
            key_header = {"Idempotency-Key": "k"}
            job = client.post(f"{PEOPLE}/learn", json=body, headers=key_header).json()["job"]
            assert client.get(f"/v1/jobs/{job}").json()["state"] == "running"
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    with running(made) as service, service.client(key) as client:
        ended = wait_for_job(client, job)
        assert (ended["state"], ended["model"]) == ("failed", None)
        again = client.post(f"{PEOPLE}/learn", json=body, headers=key_header).json()
        assert (again["job"], again["status"]["state"]) == (job, "failed")
        assert client.get("/v1/me").json()["tables"][0]["spent"] == "2"
        assert client.post(f"{PEOPLE}/query", json=count()).status_code == 200  # not locked out
        assert client.get("/v1/models").json() == []
        _add_and_remove_a_table(made, client, tmp_path)


def _add_and_remove_a_table(made, client, tmp_path):
    """What the owner registers while the service runs is opened and closed there."""
    other = tmp_path / "other.toml"
    other.write_text(made.schema.read_text().replace('"people"', '"others"'))
    with made.owner() as owner:
        owner.add_table("others", str(made.rows), other, "5")
        owner.grant("ann", "others", "1")
    wait_until(lambda: client.get("/v1/tables/others").json().get("ready"), seconds=30)
    assert client.post("/v1/tables/others/query", json=count()).status_code == 200
    with made.owner() as owner:
        owner.remove_table("others")
    assert client.get("/v1/tables/others").status_code == 404


def test_serving_in_the_clear_to_others_is_refused(made):
    program = Running.program()
    command = [program, "serve", "--home", str(made.path), "--host", "0.0.0.0"]  # noqa: S104 - that is the test
    environment = {k: v for k, v in os.environ.items() if not k.startswith("BOCAGE_")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "not a loopback address" in done.stderr


@pytest.mark.postgres
def test_hosts_share_one_ledger_and_registry_in_postgresql(postgres_url, tmp_path):
    made = Made(tmp_path / "owner", ledger=postgres_url, cap="1")
    key = made.analyst("ann", "1")
    plan = {"plan": [{"op": "partition", "by": "sex"}]}
    with running(made) as one, running(made) as two:
        with one.client(key) as here, two.client(key) as there:
            handle = here.post(f"{PEOPLE}/partitions", json=plan).json()["handle"]
            part = [{"op": "handle", "handle": handle}, {"op": "part", "key": "F"}]
            assert there.post(f"{PEOPLE}/query", json=count("0.5", *part)).status_code == 200
            body = {"learner": "rdt", "parameters": {"trees": 1, "height": 1}, "epsilon": "0.4"}
            job = here.post(f"{PEOPLE}/learn", json=body).json()["job"]
            model = wait_for_job(there, job)["model"]
            assert there.get(f"/v1/models/{model}").status_code == 200
            tellings = [
                client.post(f"{PEOPLE}/query", json=count("0.05", fresh=True)).status_code
                for client in (here, there, here)
            ]
            assert tellings == [200, 200, 403]
        with made.owner() as owner:
            owner.revoke("ann")
        for service in (one, two):
            told = httpx.get(f"{service.url}/v1/me", headers=bearer(key))
            assert told.status_code == 403
