"""What only a remote side has: accounts, ledger lines, kept partitions, jobs, restarts."""

from __future__ import annotations

import pytest

import bocage
from bocage.client import Job
from bocage.errors import AccessDenied, JobCancelled, NotFound, PlanError, ServiceError
from bocage.learners import DiffPID3
from bocage.parties import merge, plan_rows

ID3 = DiffPID3(depth=2, attributes=("sex", "city"))


def test_who_asks_and_what_is_left(connection, name):
    connection["people"].noisy_count("0.5")
    me = connection.me()
    assert me.analyst == name
    (account,) = me.tables
    assert (account.table, account.cap, account.spent) == ("people", "50", "0.5")
    assert (account.remaining, account.state) == ("49.5", "open")
    assert connection.tables() == tuple(connection) == ("people",)
    assert repr(connection).endswith(f"as {name!r}>")


def test_a_table_of_others_is_not_there(connection):
    with pytest.raises(NotFound, match="there is no table 'salaries'"):
        connection["salaries"]


def test_own_ledger_lines_name_what_was_asked(connection, remote):
    first = remote.noisy_count("0.5")
    remote.where("sex = 'F'").noisy_count("0.25")
    charges = [line for line in connection.ledger() if line.action == "charge"]
    assert [line.epsilon for line in charges] == ["0.5", "0.25"]
    assert charges[0].number == first.entry
    assert '"ask":"count"' in charges[0].memo


def test_a_kept_partition_is_found_again_and_still_costs_its_maximum(connection, remote, owner):
    cities = remote.where("age < 9").partition("city")
    cities["Nice"].noisy_count(2)
    handle = cities.keep()
    assert handle == cities.keep()
    found = connection.partition(handle)
    assert found.keys() == cities.keys()
    found["Lyon"].noisy_count(2)
    assert str(remote.spent()) == "2"
    assert str(found["Nice"].spent()) == str(found["Lyon"].spent()) == "2"
    assert str(found["Paris"].spent()) == "0"
    assert found.partition("sex").noisy_count(1).keys[0] == "Paris / F"
    assert [step["op"] for step in found["Nice"]._executor.plan] == ["handle", "part"]
    with bocage.connect(owner.url, owner.analyst("eve")) as other, pytest.raises(NotFound):
        other.partition(handle)


def test_partitions_of_every_kind_can_be_kept(connection, remote):
    tree = ID3.fit(remote, 1)
    for parts in (
        remote.partition("age", edges=[2, 5]),
        remote.partition("city", values=["Nice"]).partition("sex"),
        remote.partition("city")["Nice"].partition("sex"),
        remote.partition("city").split({1: ("age", 3)}),
        remote.partition(tree),
    ):
        again = connection.partition(parts.keep())
        assert again.keys() == parts.keys()
        assert len(again.noisy_count("0.125").values) == len(parts.keys())


@pytest.mark.parametrize("newer", [{"op": "peek"}, {"op": "part", "key": "F", "side": "left"}, {}])
def test_a_partition_of_a_newer_service_is_refused(connection, remote, monkeypatch, newer):
    handle = remote.partition("sex").keep()
    kept = connection._link.get("partitions", handle)
    monkeypatch.setattr(connection._link, "get", lambda *_: {**kept, "plan": [newer]})
    with pytest.raises(ServiceError, match="it is too old"):
        connection.partition(handle)


def test_a_job_is_started_followed_and_found_again(connection, remote):
    job = remote.start(ID3, 1)
    assert isinstance(job, Job)
    tree = job.wait()
    again = connection.job(job.id)
    assert (again.state, again.table, again.learner) == ("done", "people", "diffpid3")
    assert again.epsilon == "1"
    assert again.progress[0] == again.progress[1]
    assert [one.id for one in connection.jobs()] == [job.id]
    assert again.wait().certificate == tree.certificate


def test_a_cancelled_job_keeps_its_charge_and_has_no_model(connection, remote):
    job = remote.start(ID3, 1)
    job.cancel()
    if job.state == "cancelled":  # it may have been done before
        with pytest.raises(JobCancelled, match="charge stands"):
            job.wait()
    assert str(remote.spent()) == "1"


def test_the_bar_goes_to_the_error_stream_alone(remote, capsys):
    ID3.fit(remote, 1)
    assert capsys.readouterr().out == ""


def test_a_contribution_to_a_model_of_several_owners(connection, remote):
    plan = plan_rows(remote.schema, 2, trees=3, height=2)
    north = connection.contribute("people", plan, "north")
    assert connection.contribute("people", plan, "north").to_json() == north.to_json()
    assert str(remote.spent()) == "2"
    assert len(merge(plan, [north]).trees) == 3


def test_a_revoked_key_is_refused_at_once(owner):
    with bocage.connect(owner.url, owner.analyst("gone")) as connection:
        table = connection["people"]
        with owner.owner() as rights:
            rights.registry.rotate("gone")
        with pytest.raises(AccessDenied):
            table.noisy_count(1)


def test_only_a_tree_of_ours_parts_a_remote_table(remote):
    tree = ID3.fit(remote.dry_run(), 1)

    class Leaves:
        cells, leaf_names = tree.cells, tree.leaf_names

    with pytest.raises(PlanError, match="by a column or by a"):
        remote.partition(Leaves())
    assert len(remote.partition(tree).noisy_count(1).values) == len(tree.leaf_names)
