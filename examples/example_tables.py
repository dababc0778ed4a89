"""Tables that examples write, read by the libraries of their formats and of their database."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from examples.example_data import Row
from streamapp.author.names import delivery_stream
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.systems import (
    ONLY_READ,
    ONLY_WRITTEN,
    TABLE_KINDS,
    Delta,
    Iceberg,
    Postgres,
    System,
)


def table_system(app: StreamApp, stream: str) -> System | None:
    """The system of tables that a stream is in; None of a stream of records."""
    name = app.spec.stream(stream).system
    return next((one for one in app.spec.systems if one.name == name and one.has_tables), None)


def table_rows(system: System, table: str) -> list[Row]:
    """All rows of a table."""
    return _READERS[system.kind](system.body, table)


def clear_earlier_run(app: StreamApp) -> None:
    """Drop the tables of an earlier run from a database, which a run on other streams would be refused for.

    The program ends where the database cannot be reached. Tables of lakes are in the folder of their run.
    """
    for system in app.spec.systems:
        if system.postgres is not None:
            tables = [one.topic or one.name for one in app.spec.streams if one.system == system.name]
            _drop(app, system.postgres, tables)


def _drop(app: StreamApp, postgres: Postgres, tables: list[str]) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    try:
        connection = adbc.connect(_url(postgres), autocommit=True)
    except adbc.Error as error:
        needed = f"PostgreSQL at {postgres.servers} with the database {postgres.database}"
        raise SystemExit(f"{app.metadata.name} needs {needed}: {str(error).splitlines()[0]}") from None
    with connection, connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute("SELECT to_regclass('streamapp_positions') IS NOT NULL")
        if cursor.fetchone() == (True,):
            delivery = delivery_stream(app.application_id)
            cursor.execute("DELETE FROM streamapp_positions WHERE delivery = $1", (delivery,))


def _url(postgres: Postgres) -> str:
    return f"postgresql://{postgres.servers}/{postgres.database}"


def _postgres(postgres: Postgres, table: str) -> list[Row]:
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(_url(postgres)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 - the name that the example says
        rows: list[Row] = cursor.fetch_arrow_table().to_pylist()
        return rows


def _iceberg(iceberg: Iceberg, table: str) -> list[Row]:
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog(iceberg.catalog, **iceberg.config)
    try:
        rows: list[Row] = catalog.load_table(f"{iceberg.namespace}.{table}").scan().to_arrow().to_pylist()
        return rows
    finally:
        catalog.close()


def _delta(delta: Delta, table: str) -> list[Row]:
    from deltalake import DeltaTable

    rows: list[Row] = DeltaTable(f"{delta.path}/{table}").to_pyarrow_table().to_pylist()
    return rows


_READERS: Final[Mapping[str, Callable[[Any, str], list[Row]]]] = {
    "delta": _delta,
    "iceberg": _iceberg,
    "postgres": _postgres,
}
"""By kind of system. A class of the app's own is read by nothing but itself."""

if _READERS.keys() != TABLE_KINDS - ONLY_READ - ONLY_WRITTEN:
    raise AssertionError("each kind of table but those of a class of the app's own has its reader")
