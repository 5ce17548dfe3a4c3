"""What is particular to a ledger in PostgreSQL."""

import psycopg
import pytest

from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import LedgerBusy, LedgerError

pytestmark = pytest.mark.postgres

TENTH = Epsilon.of("0.1")
HANG_UP = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def ledger(database):
    with open_ledger(database, create=True, timeout_seconds=0.2) as opened:
        yield opened


@pytest.fixture
def alice(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "alice", Epsilon.of(1))


@pytest.fixture
def other(database):
    with psycopg.connect(database, options="-c search_path=bocage_ledger") as connection:
        yield connection


def test_commits_wait_for_the_disk_whatever_the_database_prefers(database, ledger, other):
    name = other.info.dbname
    other.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    other.commit()
    with open_ledger(database) as again, again._store.write() as run:
        assert run("SHOW synchronous_commit") == [("on",)]


def test_default_isolation_of_the_database_does_not_matter(database, ledger, alice, other):
    name = other.info.dbname
    other.execute(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = 'serializable'")
    other.commit()
    with open_ledger(database) as again, again._store.write() as run:
        assert run("SHOW transaction_isolation") == [("read committed",)]


def test_locked_ledger_is_busy_and_still_readable(ledger, alice, other):
    other.execute("SELECT 1 FROM head FOR UPDATE")
    with pytest.raises(LedgerBusy, match="Nothing was charged"):
        ledger.charge(alice, TENTH, "{}")
    assert ledger.spent(alice) == Epsilon(0)
    other.rollback()
    ledger.charge(alice, TENTH, "{}")


def test_connection_that_the_server_dropped_is_replaced(ledger, alice, other):
    ledger.charge(alice, TENTH, "{}")
    other.execute(HANG_UP)
    ledger.charge(alice, TENTH, "{}")
    assert ledger.spent(alice) == TENTH * 2


def test_connection_lost_during_a_charge_charges_nothing(ledger, alice, other):
    def interrupted():
        with ledger._store.write() as run:
            run("UPDATE scopes SET spent = 5")
            other.execute(HANG_UP)
            run("UPDATE scopes SET spent = 6")

    with pytest.raises(LedgerError, match="Nothing was charged"):
        interrupted()
    assert ledger.spent(alice) == Epsilon(0)


def test_newer_format_is_refused(database, ledger, other):
    other.execute("ALTER TABLE entries DISABLE TRIGGER append_only")
    other.execute("UPDATE entries SET memo = replace(memo, '\"version\":2', '\"version\":3')")
    other.commit()
    with pytest.raises(LedgerError, match="newer Bocage"):
        open_ledger(database)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET nano = nano - 1 WHERE number = 4",
        "DELETE FROM entries WHERE number = 4",
        "DELETE FROM entries WHERE number = 5",
        "UPDATE entries SET number = 9 - number WHERE number IN (4, 5)",
        "UPDATE scopes SET spent = spent - 1 WHERE path LIKE '%alice%'",
        "DELETE FROM scopes WHERE path LIKE '%alice%'",
    ],
)
def test_edited_deleted_or_reordered_row_is_detected(database, ledger, alice, other, change):
    ledger.charge(alice, TENTH, "1")
    ledger.charge(alice, TENTH, "2")
    other.execute("ALTER TABLE entries DISABLE TRIGGER append_only")
    other.execute("ALTER TABLE entries DROP CONSTRAINT entries_pkey")
    assert other.execute(change).rowcount > 0
    other.commit()
    with open_ledger(database, check=False) as suspect:
        assert not suspect.verify().ok


def test_server_that_is_not_there_is_one_clear_error():
    with pytest.raises(LedgerError, match=r"cannot be used|cannot be created") as refusal:
        open_ledger("postgresql://someone:hidden@127.0.0.1:1/none")
    assert "hidden" not in str(refusal.value)
