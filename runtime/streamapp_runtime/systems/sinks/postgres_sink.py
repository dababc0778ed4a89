"""Tables of a PostgreSQL database: rows and numbers in one transaction, which locks the numbers first."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.systems.sinks.postgres_session import PostgresSession
from streamapp_runtime.systems.sinks.postgres_tables import (
    TableColumn,
    addition,
    creation,
    own_type,
    quoted,
    quoted_column,
    unfit_columns,
    unknown_types,
)
from streamapp_runtime.systems.sinks.sink import SinkCommit, SinkTable, TableChange
from streamapp_runtime.systems.stream_system import (
    FencedError,
    RecordRefusedError,
    SystemTrouble,
)

NUMBERS: Final = "streamapp_positions"
"""The table of numbers, in the first schema of the search path."""
_NUMBERS_TABLE: Final = (
    f"CREATE TABLE IF NOT EXISTS {NUMBERS} "
    "(delivery text, name text, number bigint NOT NULL, PRIMARY KEY (delivery, name))"
)
_CREATION_LOCK: Final = 7_346_210_385
"""The advisory lock of whoever makes tables: any number that others do not take."""
_COLUMNS: Final = """
SELECT attname::text, format_type(atttypid, atttypmod), attnotnull,
       atthasdef OR attidentity <> '', attgenerated <> '' OR attidentity = 'a'
FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_UNIQUE: Final = """
SELECT i.indexrelid::bigint, a.attname::text
FROM pg_index i JOIN pg_attribute a
  ON a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL
"""


@dataclass(slots=True)
class PostgresSink:
    """The tables of one database."""

    session: PostgresSession
    create_if_missing: bool = False
    add_columns: bool = False
    _types: dict[str, dict[str, str]] = field(default_factory=dict)  # of the columns, by table
    _has_numbers: bool = False

    def prepare(self, table: SinkTable) -> tuple[str, ...]:
        """Why the table cannot take the rows of those columns, each reason with a fix.

        It may be created, or be given columns.
        """
        if table.name.count(".") > 1:
            return (f'"{table.name}" is no table; write a name, or schema.table, as its topic',)
        if unknown := tuple(unknown_types(table)):
            return unknown
        columns = table_columns(self.session, table)
        if not columns and self.create_if_missing:
            self._define(creation(table))
            columns = table_columns(self.session, table)
        if not columns:
            statement = creation(table).replace(" IF NOT EXISTS", "")
            return (f'there is no table "{table.name}"; say createIfMissing: true, or {statement}',)
        added = table.addable([column.name for column in columns]) if self.add_columns else ()
        if added and not (*unfit_columns(table.without(added), columns), *self._unfit_key(table)):
            self._define(addition(table, added))
            columns = table_columns(self.session, table)
        self._types[table.name] = {column.name: column.type for column in columns}
        return (*unfit_columns(table, columns), *self._unfit_key(table))

    def numbers(self, owner: str, names: Collection[str]) -> dict[str, int]:
        """Those of the owner's numbers that are there, as of the last commit."""
        if not self._has_numbers and not self._numbers_exist():
            return {}
        return self._numbers(owner, names)

    def commit(self, commit: SinkCommit) -> None:
        """Do all of it, or nothing: the numbers are locked and compared before anything is written."""
        if not self._has_numbers and not self._numbers_exist():
            self._define(_NUMBERS_TABLE)
            self._has_numbers = True
        with self.session.transaction():
            numbers = self._numbers(commit.owner, {*commit.expected, *commit.numbers}, lock=True)
            commit.compare(numbers)
            for change in commit.changes:
                self._write(change)
            self._put(commit, numbers)
            crash_point("sink.before")
        crash_point("sink.after")

    def forgetting(self, owner: str) -> str:
        """The advice how to forget the owner's numbers."""
        return f"DELETE FROM {NUMBERS} WHERE delivery = '{owner}'"

    def trouble(self) -> SystemTrouble | None:
        """The silence of the server, where a call has lasted for long."""
        return self.session.trouble()

    def interrupt(self) -> None:
        """Ask the server to end the statement that another thread waits for."""
        self.session.interrupt()

    def close(self) -> None:
        """Let go of the connection."""
        self.session.close()

    def _define(self, statement: str) -> None:
        """Make a table or columns, unless they are there. Of two that do so at once PostgreSQL fails one."""
        with self.session.transaction():
            self.session.execute("SELECT pg_advisory_xact_lock($1)::text", _CREATION_LOCK)
            self.session.execute(statement)

    def _numbers_exist(self) -> bool:
        self._has_numbers = self.session.execute("SELECT to_regclass($1) IS NOT NULL", NUMBERS)[0][0]
        return self._has_numbers

    def _numbers(self, owner: str, names: Collection[str], *, lock: bool = False) -> dict[str, int]:
        query = f"SELECT name, number FROM {NUMBERS} WHERE delivery = $1 ORDER BY name"
        rows = self.session.execute(query + " FOR UPDATE" * lock, owner)
        return {name: number for name, number in rows if name in names}

    def _put(self, commit: SinkCommit, present: Collection[str]) -> None:
        changed = [(number, commit.owner, name) for name, number in commit.numbers.items() if name in present]
        added = [
            (number, commit.owner, name) for name, number in commit.numbers.items() if name not in present
        ]
        if changed:
            update = f"UPDATE {NUMBERS} SET number = $1 WHERE delivery = $2 AND name = $3"
            self.session.execute_each(update, changed)
        if added:
            insert = f"INSERT INTO {NUMBERS} (number, delivery, name) VALUES ($1, $2, $3)"
            try:
                self.session.execute_each(insert, added)
            except RecordRefusedError:  # another one has added it since: there was nothing to lock
                raise FencedError(f'numbers of "{commit.owner}" were written since') from None

    def _write(self, change: TableChange) -> None:
        table, target = change.table, quoted(change.table.name)
        if len(change.deleted):
            (key,) = table.primary_key
            keys = pa.table({key: change.deleted})
            staged = self._stage(f"keys of {table.name}", keys)
            name = quoted_column(key)
            self.session.execute(
                f"DELETE FROM {target} USING {staged} WHERE {target}.{name} = {staged}.{name}"
            )
        if not len(change.rows):
            return
        if not table.primary_key and self._is_exact(table):
            schema, _, name = table.name.rpartition(".")
            self.session.copy(change.rows, name, schema or None)
            return
        staged = self._stage(f"rows of {table.name}", change.rows)
        types, columns = self._types[table.name], [column.name for column in table.columns]
        names = ", ".join(map(quoted_column, columns))
        values = ", ".join(f"CAST({quoted_column(name)} AS {types[name]})" for name in columns)
        conflict = _on_conflict(table) if table.primary_key else ""
        self.session.execute(f"INSERT INTO {target} ({names}) SELECT {values} FROM {staged}{conflict}")

    def _stage(self, purpose: str, rows: pa.Table) -> str:
        columns = ", ".join(
            f"{quoted_column(one.name)} {'numeric' if pa.types.is_decimal(one.type) else own_type(one.type)}"
            for one in rows.schema
        )
        return self.session.stage(rows, purpose, columns)

    def _is_exact(self, table: SinkTable) -> bool:
        """True if the columns of the table have exactly the types that rows are copied in."""
        types = self._types[table.name]
        return all(own_type(one.type) == types.get(one.name) for one in table.schema)

    def _unfit_key(self, table: SinkTable) -> tuple[str, ...]:
        if not table.primary_key:
            return ()
        keys: dict[int, set[str]] = {}
        for index, name in self.session.execute(_UNIQUE, quoted(table.name)):
            keys.setdefault(index, set()).add(name)
        if set(table.primary_key) in keys.values():
            return ()
        listed = ", ".join(map(quoted_column, table.primary_key))
        mend = f"ALTER TABLE {quoted(table.name)} ADD PRIMARY KEY ({listed})"
        return (f"no primary key or unique index is of exactly {listed}; {mend}, or change primaryKey",)


def table_columns(session: PostgresSession, table: SinkTable) -> list[TableColumn]:
    """The columns that a table has; none where there is no table."""
    return [TableColumn(*row) for row in session.execute(_COLUMNS, quoted(table.name))]


def _on_conflict(table: SinkTable) -> str:
    keys = ", ".join(map(quoted_column, table.primary_key))
    others = [quoted_column(one.name) for one in table.columns if one.name not in table.primary_key]
    if not others:
        return f" ON CONFLICT ({keys}) DO NOTHING"
    return f" ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in others)}"
