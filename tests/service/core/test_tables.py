"""Tables on any engine, opened before the first question."""

from __future__ import annotations

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.csv
import pytest
from running import ROWS, SCHEMA, Inside, bearer

# Noise of scale 1/20 is beyond 3 with probability below exp(-60).
BODY = {"ask": {"kind": "noisy_counts", "by": "city", "epsilon": "20"}}
CITIES = [4, 6, 6]


@pytest.mark.postgres
@pytest.mark.spark
def test_a_table_on_any_engine_gives_the_same_counts(made, postgres_url, spark, tmp_path):
    rows = pa.table(ROWS)
    pyarrow.csv.write_csv(rows, tmp_path / "people.csv")
    with duckdb.connect(str(tmp_path / "all.duckdb")) as database:
        database.register("given", rows)
        database.execute("CREATE TABLE people AS SELECT * FROM given")
    with psycopg.connect(postgres_url) as database:
        database.execute("CREATE TABLE served (sex text, city text, age int, buys text)")
        with database.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO served VALUES (%s, %s, %s, %s)",
                list(zip(*ROWS.values(), strict=True)),
            )
    sources = {
        "csv": str(tmp_path / "people.csv"),
        "duckdb": f"{tmp_path / 'all.duckdb'}#people",
        "postgres": f"{postgres_url}#served",
        "spark": f"spark:{made.rows}",
    }
    key = made.analyst("ann")
    with made.owner() as owner:
        for name, source in sources.items():
            schema = tmp_path / f"{name}.toml"
            schema.write_text(SCHEMA.replace('"people"', f'"{name}"'), encoding="utf-8")
            owner.add_table(name, source, schema, "100")
            owner.grant("ann", name, "100")
    service = Inside(made.opened())
    told = {}
    for name in ("people", *sources):
        assert service.client.get(f"/v1/tables/{name}", headers=bearer(key)).json()["ready"]
        path = f"/v1/tables/{name}/query"
        told[name] = service.client.post(path, json=BODY, headers=bearer(key)).json()["values"]
    service.stop()
    with psycopg.connect(postgres_url) as database:
        database.execute("DROP TABLE served")
    for name, counts in told.items():
        assert all(abs(a - b) <= 3 for a, b in zip(counts, CITIES, strict=True)), name
