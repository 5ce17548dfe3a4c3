"""What only a server can do wrong: rights, snapshots, lost connections, types and SQL."""

from __future__ import annotations

import threading
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import psycopg
import pytest
from makers_server import postgres_table

from bocage.engine.postgres import PostgresEngine
from bocage.engine.reference import ReferenceEngine
from bocage.errors import EngineError, SourceError
from bocage.plan import OUTSIDE, Branch, Cells, Cut, Question
from bocage.schema import Categorical, Numeric, Schema
from servers import postgres_server, wait_until

pytestmark = pytest.mark.postgres

COLOR = Categorical("color", ("red", "green"), outside="green", missing="green")
SCHEMA = Schema("t", (COLOR,))
SECRET = "s3cret-value"  # noqa: S105 - a datum that must never be seen


@pytest.fixture
def admin(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


@pytest.fixture
def table(admin):
    admin.execute("CREATE TABLE t (color text)")
    admin.execute("INSERT INTO t VALUES ('red'), ('green'), ('red')")
    return "t"


def total(engine: PostgresEngine) -> int:
    return int(engine.answer([Question()])[0].totals.sum())


def test_the_session_cannot_write(postgres_url, table):
    with closing(PostgresEngine(postgres_url, table, SCHEMA)) as engine:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            engine._idle[0].execute("INSERT INTO public.t VALUES ('red')")
        assert total(engine) == 3


def test_two_questions_of_one_answer_see_the_same_rows(postgres_url, table, admin):
    class InsertsBetween(list):
        """Another session inserts a row whenever someone goes from the first question on."""

        def __iter__(self):
            for question in super().__iter__():
                yield question
                admin.execute("INSERT INTO t VALUES ('red')")

    with closing(PostgresEngine(postgres_url, table, SCHEMA)) as engine:
        first, second, third = engine.answer(InsertsBetween([Question()] * 3))
        np.testing.assert_array_equal(first.totals, second.totals)
        np.testing.assert_array_equal(first.totals, third.totals)
        assert total(engine) >= first.totals.sum() + 3


def test_a_role_with_select_only_is_enough_and_a_writer_is_warned_about(postgres_url, table, admin, caplog):
    admin.execute("CREATE ROLE reader LOGIN")
    try:
        admin.execute("GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON t TO reader")
        with closing(PostgresEngine(_as("reader", postgres_url), table, SCHEMA)) as engine:
            assert total(engine) == 3
        assert not caplog.records
        with closing(PostgresEngine(postgres_url, table, SCHEMA)) as engine:
            total(engine)
            total(engine)
        assert [r.levelname for r in caplog.records] == ["WARNING"]
    finally:
        admin.execute("DROP OWNED BY reader; DROP ROLE reader")


def test_a_role_without_select_is_told_which_grant_it_needs(postgres_url, table, admin):
    admin.execute("CREATE ROLE stranger LOGIN; GRANT USAGE ON SCHEMA public TO stranger")
    try:
        with pytest.raises(SourceError, match="GRANT SELECT"):
            PostgresEngine(_as("stranger", postgres_url), table, SCHEMA)
    finally:
        admin.execute("DROP OWNED BY stranger; DROP ROLE stranger")


def _as(role: str, url: str) -> str:
    return url.replace("postgres:@", f"{role}@")


def test_a_server_killed_in_mid_query_is_an_opaque_error_and_the_next_call_works(caplog):
    with postgres_server() as server:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("CREATE TABLE t (color text)")
            admin.execute("INSERT INTO t VALUES (%s)", (SECRET,))
            admin.execute("CREATE VIEW slow AS SELECT * FROM t WHERE pg_sleep(60) IS NOT NULL")
        with (
            closing(PostgresEngine(server.url, "slow", SCHEMA)) as slow,
            closing(PostgresEngine(server.url, "t", SCHEMA)) as engine,
        ):
            assert total(engine) == 1
            errors: list[BaseException] = []
            asking = threading.Thread(target=_collect, args=(slow, errors))
            asking.start()
            with psycopg.connect(server.url, autocommit=True) as admin:
                wait_until(lambda: _sleeping(admin))
            server.kill()
            asking.join(10)
            assert [type(error) for error in errors] == [EngineError]
            assert errors[0].__context__ is None
            assert errors[0].__cause__ is None
            with pytest.raises(EngineError):
                engine.answer([Question()])
            server.restart()
            assert total(engine) == 1
        assert "OperationalError" in caplog.text
        assert SECRET not in caplog.text + "".join(map(str, errors))


def _collect(engine: PostgresEngine, errors: list[BaseException]) -> None:
    try:
        engine.answer([Question()])
    except EngineError as error:
        errors.append(error)


def _sleeping(admin: psycopg.Connection[Any]) -> bool:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    return admin.execute(waits).fetchone() == (1,)


def test_a_session_ended_by_the_administrator_is_replaced(postgres_url, table, admin):
    with closing(PostgresEngine(postgres_url, table, SCHEMA)) as engine:
        pid = engine._idle[0].info.backend_pid
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        assert total(engine) == 3
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            engine._idle[0].execute("INSERT INTO public.t VALUES ('red')")


def test_an_error_that_quotes_a_datum_stays_behind(postgres_url, table, admin, caplog):
    admin.execute("INSERT INTO t VALUES (%s)", (SECRET,))
    admin.execute("CREATE VIEW bad AS SELECT color FROM t WHERE color::int IS NOT NULL")
    with closing(PostgresEngine(postgres_url, "bad", SCHEMA)) as engine:
        with pytest.raises(EngineError) as caught:
            engine.answer([Question()])
        assert caught.value.__context__ is None
    assert SECRET not in caplog.text + str(caught.value)
    assert "InvalidTextRepresentation" in caplog.text


def test_a_closed_engine_says_so_and_does_not_connect_again(postgres_url, table):
    engine = PostgresEngine(postgres_url, table, SCHEMA)
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.answer([Question()])
    assert not engine._idle


def test_a_statement_that_takes_too_long_is_given_up(postgres_url, table, admin, caplog):
    admin.execute("CREATE VIEW slow AS SELECT * FROM t WHERE pg_sleep(60) IS NOT NULL")
    engine = PostgresEngine(postgres_url, "slow", SCHEMA, timeout_seconds=0.05)
    with closing(engine), pytest.raises(EngineError):
        engine.answer([Question()])
    assert "QueryCanceled" in caplog.text


def test_opening_errors_name_the_thing_and_the_way_out(postgres_url, table, admin):
    admin.execute("CREATE TABLE dates (color date)")
    for name, schema, message in [
        ("nothing", SCHEMA, "no table 'nothing'"),
        ("T", SCHEMA, "case matters"),
        ("nowhere.t", SCHEMA, "no table 'nowhere.t'"),
        ("t", Schema("t", (COLOR, Categorical("size", ("s",)))), "no column 'size'"),
        ("dates", SCHEMA, "'color' is categorical, but its type is date"),
        ("t", Schema("t", (Numeric("color", Fraction(0), Fraction(1)),)), "numeric, but its type"),
    ]:
        with pytest.raises(SourceError, match=message):
            PostgresEngine(postgres_url, name, schema)
    with closing(PostgresEngine(postgres_url, "public.t", SCHEMA)) as engine:
        assert total(engine) == 3


def test_connection_errors_say_what_to_check_and_never_the_password(postgres_url):
    host = postgres_url.partition("?")[2]
    for url, message in [
        (f"postgresql://nobody:{SECRET}@/postgres?{host}", "refuses this role"),
        (f"postgresql://postgres:{SECRET}@/nowhere?{host}", "no such database"),
        (f"postgresql://postgres:{SECRET}@127.0.0.1:1/postgres", "no PostgreSQL server answers"),
    ]:
        with pytest.raises(SourceError, match=message) as caught:
            PostgresEngine(url, "t", SCHEMA)
        assert SECRET not in str(caught.value)
        assert caught.value.__context__ is None


NASTY = [
    "'; DROP TABLE t; --",
    '"; DROP TABLE t; --',
    "$1",
    "%s",
    "%(x)s",
    "\\'; SELECT 1; --",
    "{}",
    "E'\\x27'",
    "/* */",
    "$$",
]


@pytest.mark.parametrize("text", NASTY)
def test_names_and_values_are_never_sql(postgres_url, text):
    schema = Schema(text, (Categorical(text, (text, "other"), marker=f"?{text}", missing="other"),))
    columns = {text: [text, f"?{text}", "new", None, "other"]}
    with (
        postgres_table(postgres_url, columns, schema, table=text) as name,
        closing(PostgresEngine(postgres_url, name, schema)) as engine,
    ):
        cells = Cells((Branch(text, (~0, ~1)),), 2)
        question = Question(cells, label=text, columns=(text,))
        (tally,) = engine.answer([question])
        (right,) = ReferenceEngine(columns, schema).answer([question])
        np.testing.assert_array_equal(tally.columns[text], right.columns[text])
        assert tally.totals.tolist() == [[1, 0], [0, 3]]


def test_types_beyond_python_are_counted_as_their_text_or_number(postgres_url, admin):
    admin.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN whole AS smallint")
    admin.execute("CREATE TABLE kinds (m mood, c char(4), v varchar(9), w whole, r real)")
    admin.execute("INSERT INTO kinds VALUES ('ok', 'ab', 'x', 3, 0.1), ('sad', 'abcd', '', 4, 'inf')")
    schema = Schema(
        "kinds",
        (
            Categorical("m", ("ok", "sad")),
            Categorical("c", ("ab", "abcd")),
            Categorical("v", ("", "x")),
            Categorical("w", ("3", "4")),
            # The float nearest to 0.1 with 24 bits lies above 0.1.
            Numeric("r", Fraction(0), Fraction(1), cells=10),
        ),
    )
    with closing(PostgresEngine(postgres_url, "kinds", schema)) as engine:
        (tally,) = engine.answer([Question(columns=("m", "c", "v", "w", "r"))])
    found = {name: np.flatnonzero(counts[0, :, 0]).tolist() for name, counts in tally.columns.items()}
    assert found == {"m": [0, 1], "c": [0, 1], "v": [0, 1], "w": [0, 1], "r": [1, 9]}


def test_decimals_beyond_a_double_raise_nothing(postgres_url):
    tiny = Decimal(2) ** -1075  # rounded to 28 digits, so slightly above or below the tie
    values = [
        *(Decimal(text) for text in ("1e400", "-1e400", "1e-400", "-1e-400", "5e-324", "NaN")),
        *(
            Decimal("Infinity"),
            Decimal("2.5e-324"),
            Decimal("2.4e-324"),
            tiny,
            None,
            Decimal("0.1"),
        ),
    ]
    for clamp in (True, False):
        for upper in (Fraction(1), Fraction(1, 1000), Fraction(10**6)):
            column = Numeric("x", Fraction(0), upper, cells=1000, clamp=clamp)
            _same(postgres_url, {"x": values}, Schema("t", (column,)), [Question(columns=("x",))])


def test_routers_of_a_thousand_cells_of_every_shape(postgres_url):
    random = np.random.default_rng(7)
    columns = {name: random.uniform(-1, 1025, 3000).tolist() for name in "xy"}
    schema = Schema("t", tuple(Numeric(n, Fraction(0), Fraction(1024)) for n in "xy"))
    last = 998
    chain = Cells(
        tuple(Cut("xy"[i % 2], 1 + i // 2, ~i, i + 1 if i < last else ~999) for i in range(999)),
        1000,
    )
    flat = Cells((Branch("x", tuple(~i for i in range(1024))),), 1024)
    wide = Cells(
        (
            Branch("x", tuple(range(1, 1025))),
            *(Cut("y", 1 + i % 1023, ~i, ~(i + 1)) for i in range(1024)),
        ),
        1025,
    )
    joined = Cells(  # nodes with several ways to them, near and far
        (
            Branch("x", tuple(1 + i % 3 for i in range(1024))),
            Branch("y", tuple(4 if i % 2 else 5 for i in range(1024))),
            Cut("y", 5, 4, ~1),
            Cut("x", 700, 5, OUTSIDE),
            Cut("y", 500, ~0, 6),
            Branch("y", tuple(~(i % 7) for i in range(1024))),
            Cut("x", 100, ~0, ~6),
        ),
        7,
    )
    questions = [Question(cells, sums=("y",)) for cells in (chain, flat, wide, joined)]
    _same(postgres_url, columns, schema, questions)


def test_a_table_that_grew_over_its_cap_is_refused_or_cut_in_storage_order(postgres_url, table, admin, caplog):
    refuses = Schema("t", (COLOR,), row_cap=3)
    cuts = Schema("t", (COLOR,), row_cap=3, over_cap="cut")
    with (
        closing(PostgresEngine(postgres_url, table, refuses)) as refusing,
        closing(PostgresEngine(postgres_url, table, cuts)) as cutting,
    ):
        assert total(refusing) == 3
        admin.execute("INSERT INTO t VALUES ('red')")
        with pytest.raises(EngineError):
            refusing.answer([Question()])
        (tally,) = cutting.answer([Question(columns=("color",))])
        assert tally.columns["color"].ravel().tolist() == [2, 1]
    assert "row cap" in caplog.text
    with pytest.raises(SourceError, match="row cap of 3"):
        PostgresEngine(postgres_url, table, refuses)


def test_a_view_cannot_be_cut(postgres_url, table, admin):
    admin.execute("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(SourceError, match="no storage order"):
        PostgresEngine(postgres_url, "v", Schema("t", (COLOR,), row_cap=3, over_cap="cut"))


def test_a_column_that_changed_its_type_is_refused(postgres_url, admin, caplog):
    admin.execute("CREATE TABLE n (x float8); INSERT INTO n VALUES (0.5)")
    schema = Schema("n", (Numeric("x", Fraction(0), Fraction(1)),))
    with closing(PostgresEngine(postgres_url, "n", schema)) as engine:
        assert total(engine) == 1
        admin.execute("ALTER TABLE n ALTER x TYPE numeric")
        with pytest.raises(EngineError):
            engine.answer([Question()])
    assert "columns of the table were changed" in caplog.text


def test_functions_of_another_namespace_are_not_called(postgres_url, table, admin):
    admin.execute("CREATE FUNCTION public.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 7.0'")
    admin.execute("CREATE TABLE n (x float8); INSERT INTO n VALUES (0.5)")
    admin.execute("ALTER ROLE postgres SET search_path = public, pg_catalog")
    try:
        schema = Schema("n", (Numeric("x", Fraction(0), Fraction(9), step=Fraction(1)),))
        with closing(PostgresEngine(postgres_url, "n", schema)) as engine:
            (tally,) = engine.answer([Question(sums=("x",))])
        assert tally.sums["x"].tolist() == [1]
    finally:
        admin.execute("ALTER ROLE postgres RESET search_path")


def _same(url: str, columns: Any, schema: Schema, questions: list[Question]) -> None:
    with (
        postgres_table(url, columns, schema) as table,
        closing(PostgresEngine(url, table, schema)) as engine,
    ):
        right = ReferenceEngine(columns, schema).answer(questions)
        for mine, theirs in zip(engine.answer(questions), right, strict=True):
            np.testing.assert_array_equal(mine.totals, theirs.totals)
            for name, counts in theirs.columns.items():
                np.testing.assert_array_equal(mine.columns[name], counts)
            for name, sums in theirs.sums.items():
                np.testing.assert_array_equal(mine.sums[name], sums)
