"""One moment of a PostgreSQL table is one transaction, and is looked at before anything is charged."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from bocage.engine.postgres import MOST_IDLE, PostgresEngine
from bocage.errors import SourceError
from bocage.plan import Question
from bocage.schema import Categorical, Schema

pytestmark = pytest.mark.postgres

COLOR = Categorical("color", ("red", "green"), outside="green", missing="green")
SCHEMA = Schema("t", (COLOR,))
ASK = Question(columns=("color",))


@pytest.fixture
def admin(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (color text); INSERT INTO t VALUES ('red'), ('green')")
        yield connection
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def colors(engine):
    return engine.answer([ASK])[0].columns["color"].ravel().tolist()


def listed(engine):
    return sum(batch.shape[1] for batch in engine.rows(ASK))


def test_every_read_of_a_pinned_engine_sees_the_same_rows(postgres_url, admin):
    with closing(PostgresEngine(postgres_url, "t", SCHEMA)) as engine:
        pinned = engine.pin()
        admin.execute("INSERT INTO t VALUES ('red')")
        with closing(engine.pin()) as later:
            for _ in range(2):
                assert (colors(pinned), listed(pinned)) == ([1, 1], 2)
                assert (colors(later), listed(later)) == ([2, 1], 3)
                admin.execute("DELETE FROM t WHERE color = 'green'")
        pinned.close()
        assert colors(engine) == [2, 0]
        with pytest.raises(SourceError, match="closed"):
            colors(pinned)


def test_a_listing_goes_on_while_questions_are_asked(postgres_url, admin):
    admin.execute("INSERT INTO t SELECT 'red' FROM generate_series(1, 200000)")
    with closing(PostgresEngine(postgres_url, "t", SCHEMA)) as engine, closing(engine.pin()) as one:
        rows = one.rows(ASK)
        first = next(rows).shape[1]
        assert colors(one) == [200_001, 1]
        assert first + sum(batch.shape[1] for batch in rows) == 200_002


def test_connections_are_used_again_and_do_not_pile_up(postgres_url, admin):
    with closing(PostgresEngine(postgres_url, "t", SCHEMA)) as engine:
        before = engine._idle[0]
        for _ in range(5):
            assert colors(engine) == [1, 1]
        assert engine._idle == [before]
        for pinned in [engine.pin() for _ in range(2 * MOST_IDLE)]:
            pinned.close()
        assert len(engine._idle) == MOST_IDLE


def test_a_table_that_is_no_longer_what_was_opened_is_refused_when_it_is_pinned(postgres_url, admin, caplog):
    capped = Schema("t", (COLOR,), row_cap=2)
    with closing(PostgresEngine(postgres_url, "t", capped)) as engine:
        pinned = engine.pin()
        admin.execute("INSERT INTO t VALUES ('red')")
        with pytest.raises(SourceError, match="owner's log"):
            engine.pin()
        assert "row cap" in caplog.text
        assert colors(pinned) == [1, 1]
        pinned.close()
        admin.execute("DELETE FROM t WHERE ctid = (SELECT max(ctid) FROM t)")
        assert colors(engine) == [1, 1]
        admin.execute("ALTER TABLE t RENAME color TO colour")
        with pytest.raises(SourceError):
            engine.pin()
    assert engine.version is None
