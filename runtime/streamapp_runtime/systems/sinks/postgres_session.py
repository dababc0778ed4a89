"""A session with PostgreSQL that is opened when it is needed, and whose failures are those of systems."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa

from streamapp_runtime.systems.sinks.postgres_tables import TableColumn, quoted
from streamapp_runtime.systems.sinks.sink import silence
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    FullError,
    RecordRefusedError,
    SystemTrouble,
    UnavailableError,
    UnknownStreamError,
)

_SESSION: Final = (
    "SET lock_timeout = '10s'",  # another delivery's transaction is waited for, and then tried again
    "SET idle_in_transaction_session_timeout = '60s'",  # a driver that is cut off holds no lock for ever
    "SET client_min_messages = 'warning'",
    "SET timezone = 'UTC'",
)
_COLUMNS: Final = """
SELECT attname::text, format_type(atttypid, atttypmod), attnotnull,
       atthasdef OR attidentity <> '', attgenerated <> '' OR attidentity = 'a'
FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_BY_STATE: Final[Mapping[str, type[Exception]]] = MappingProxyType(
    {
        "08": UnavailableError,  # connections
        "0A": RecordRefusedError,  # not supported
        "21": RecordRefusedError,
        "22": RecordRefusedError,  # data
        "23": RecordRefusedError,  # constraints
        "25": UnavailableError,  # a server that only reads
        "28": DeniedError,  # logins
        "3D": DeniedError,  # no such database
        "40": UnavailableError,  # deadlocks
        "42": RecordRefusedError,  # columns that are another's by now
        "44": RecordRefusedError,
        "53": UnavailableError,  # resources
        "54": RecordRefusedError,  # limits
        "55": UnavailableError,  # locks
        "57": UnavailableError,  # shutdowns, cancelled statements
        "58": UnavailableError,  # the server's machine
        "P0": RecordRefusedError,  # raised by a trigger
        "XX": UnavailableError,
    }
)
"""By the class of the SQLSTATE, the failure that it is."""
_EXACT: Final[Mapping[str, type[Exception]]] = MappingProxyType(
    {"42501": DeniedError, "42P01": UnknownStreamError, "3F000": UnknownStreamError, "53100": FullError}
)
"""The same of single ones: permissions, tables and schemas that do not exist, disks that are full."""
_DENIED: Final = ("authentication failed", "no pg_hba.conf entry", "does not exist", "no password supplied")
"""What a server says to a login that it refuses: the driver tells no SQLSTATE of these."""
_DIAGNOSTICS: Final = (b"PG_DIAG_MESSAGE_PRIMARY", b"PG_DIAG_MESSAGE_DETAIL", b"PG_DIAG_CONTEXT")
_LONGEST: Final = 500


@dataclass(slots=True)
class PostgresSession:
    """One session. Statements commit by themselves but within `transaction`."""

    parameters: Mapping[str, str] = field(repr=False)
    settings: Sequence[str] = ()  # further statements at its beginning
    login: str = "config and configSecret"  # which say user and password
    _connection: Any = None
    _cursor: Any = None
    _since: float | None = None  # since when a call lasts
    _staged: dict[tuple[str, str], str] = field(
        default_factory=dict
    )  # temporary tables, by what they are for
    _made: int = 0  # so many of them, ever

    @property
    def address(self) -> str:
        """The servers and the database, for messages."""
        hosts, ports = (self.parameters[name].split(",") for name in ("host", "port"))
        servers = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=True))
        return f"{servers}/{self.parameters['dbname']}"

    def execute(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that a statement gives; none where it gives none."""
        with self._call() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    def rows_of(self, statement: str, values: pa.Array) -> pa.Table:
        """The rows that a statement gives whose one parameter is an array of the values."""
        parameter = pa.ListArray.from_arrays([0, len(values)], values)
        with self._call() as cursor:
            cursor.execute(statement, pa.record_batch([parameter], ["values"]))
            return cursor.fetch_arrow_table()

    def columns(self, table: str) -> list[TableColumn]:
        """The columns of a table; none where there is no such table."""
        return [TableColumn(*row) for row in self.execute(_COLUMNS, quoted(table))]

    def execute_each(self, statement: str, values: Sequence[tuple[object, ...]]) -> None:
        """The statement for each of the values."""
        with self._call() as cursor:
            cursor.executemany(statement, values)

    def copy(self, rows: pa.Table, table: str, schema: str | None = None) -> None:
        """Append rows to a table whose columns have exactly these types."""
        with self._call() as cursor:
            cursor.adbc_ingest(table, rows, mode="append", db_schema_name=schema)

    def stage(self, rows: pa.Table, purpose: str, columns: str) -> str:
        """The temporary table of these columns that has the rows until the end of the transaction."""
        name = self._staged.get((purpose, columns))
        if name is None:
            self._made += 1
            name = f"streamapp_staged_{self._made}"
            self.execute(f"CREATE TEMPORARY TABLE {name} ({columns}) ON COMMIT DELETE ROWS")
            self._staged[purpose, columns] = name
        with self._call() as cursor:
            cursor.adbc_ingest(name, rows, mode="append", temporary=True)
        return name

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction: committed at its end, and rolled back where something fails."""
        self.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self._staged.clear()  # those that were made meanwhile are no more
            with suppress(Exception):
                self.execute("ROLLBACK")
            raise

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query in a transaction that writes nothing."""
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            with self._call() as cursor:
                cursor.execute(query)
                rows = cursor.fetch_record_batch()
            while True:
                with self._call():
                    batch = next(rows, None)
                if batch is None:
                    return
                yield batch
        except (OSError, pa.ArrowException) as error:  # from the stream of rows, which has no SQLSTATE
            raise UnavailableError(f"{self.address}: {_first_line(str(error))}"[:_LONGEST]) from None
        finally:
            self.close()  # with the rest of the rows, where the reading was given up

    def trouble(self) -> SystemTrouble | None:
        """The silence of the server, where a call has lasted for long."""
        return silence(self.address, self._since)

    def interrupt(self) -> None:
        """Ask the server to end the statement that another thread waits for."""
        connection = self._connection
        if connection is not None and self._since is not None:
            with suppress(Exception):
                connection.adbc_cancel()

    def close(self) -> None:
        """Let go of the connection; the next call opens another."""
        cursor, connection = self._cursor, self._connection
        self._cursor = self._connection = None
        self._staged.clear()
        for one in (cursor, connection):
            if one is not None:
                with suppress(adbc.Error):
                    one.close()

    @contextmanager
    def _call(self) -> Iterator[Any]:
        self._since = time.monotonic()
        try:
            yield self._cursor or self._open()
        except adbc.Error as error:
            failure = self._failure(error)
            if isinstance(failure, UnavailableError):
                self.close()
            raise failure from None
        finally:
            self._since = None

    def _open(self) -> Any:
        text = " ".join(f"{name}='{_escaped(value)}'" for name, value in self.parameters.items())
        self._connection = adbc.connect(text, autocommit=True)
        cursor = self._cursor = self._connection.cursor()
        for statement in (*_SESSION, *self.settings):
            cursor.execute(statement)
        return cursor

    def _failure(self, error: adbc.Error) -> Exception:
        state, details = error.sqlstate or "", dict(error.details or ())
        parts = [details[name].decode(errors="replace") for name in _DIAGNOSTICS if name in details]
        text = "; ".join(" ".join(part.split()) for part in parts) or _first_line(str(error))
        message = f"{self.address}: {text}"[:_LONGEST]
        if not state and any(sign in text for sign in _DENIED):
            return DeniedError(f"{message}; look at what {self.login} say")
        kind = _EXACT.get(state) or _BY_STATE.get(state[:2], UnavailableError)
        return kind(message)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def _first_line(text: str) -> str:
    line = text.splitlines()[0] if text else ""
    return line.removeprefix("IO: ").removeprefix("[libpq] ").partition(" Query was:")[0]
