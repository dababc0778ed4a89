"""A Delta table: rows and numbers in one commit, the numbers as versions of application transactions.

The library neither compares such versions nor keeps a commit from being moved behind another one. So each
attempt reads the numbers and writes by one and the same state of the table, and the library may not try
again: an attempt fails where anybody has committed since, and the next one reads the numbers of then.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import deltalake
import pyarrow as pa
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.systems.sinks.sink import SinkCommit, SinkTable, TableChange, silence
from streamapp_runtime.systems.stream_system import (
    RecordRefusedError,
    SystemTrouble,
    UnavailableError,
    UnknownStreamError,
)

MOST_ATTEMPTS: Final = 20
"""So many commits of others in a row may come between."""
_RETENTION: Final = "delta.setTransactionRetentionDuration"
"""A property of tables by which application transactions are forgotten."""
_DELETED: Final = "__streamapp_deleted"
_WIDER: Final[Mapping[str, frozenset[str]]] = {
    "byte": frozenset({"short", "integer", "long"}),
    "short": frozenset({"integer", "long"}),
    "integer": frozenset({"long"}),
    "float": frozenset({"double"}),
}
"""The other types that hold each value of a type."""


@dataclass(slots=True)
class DeltaSink:
    """One Delta table below a path. `prepare` says which, before anything else is asked."""

    path: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    create_if_missing: bool = False
    _table: SinkTable | None = None
    _since: float | None = None  # since when a call lasts

    def prepare(self, table: SinkTable) -> tuple[str, ...]:
        """Why the table cannot take the rows of those columns, each reason with a fix; it may be created."""
        self._table = table
        try:
            delta = self._open()
        except UnknownStreamError:
            if not self.create_if_missing:
                return (f'there is no table "{table.name}" at {self._uri}; say createIfMissing: true',)
            with suppress(_OvertakenError), self._call():  # who was first has made it
                schema = deltalake.Schema.from_arrow(_written_schema(table))
                deltalake.DeltaTable.create(
                    self._uri, schema, mode="ignore", storage_options=dict(self.options)
                )
            delta = self._open()
        reasons = tuple(_unfit_columns(table, delta))
        if retention := delta.metadata().configuration.get(_RETENTION):
            lost = f"{_RETENTION} is {retention}, after which it is forgotten what the table has"
            reasons = (*reasons, f"{lost}; take the property away")
        return reasons

    def numbers(self, owner: str, names: Collection[str]) -> dict[str, int]:
        """Those of the owner's numbers that are there, as of the last commit."""
        return _numbers(self._open(), owner, names)

    def commit(self, commit: SinkCommit) -> None:
        """Do all of it, or nothing, by the newest state of the table."""
        for attempt in range(MOST_ATTEMPTS):
            delta = self._open()
            numbers = _numbers(delta, commit.owner, {*commit.expected, *commit.numbers})
            if attempt and numbers.items() >= commit.numbers.items():
                return  # it was done, and what failed came after
            commit.compare(numbers)
            crash_point("sink.before")
            try:
                with self._call():
                    self._write(delta, commit)
            except _OvertakenError:
                continue
            crash_point("sink.after")
            return
        raise UnavailableError(f"{self._uri}: {MOST_ATTEMPTS} commits of others came between")

    def forgetting(self, owner: str) -> str:
        """The advice how to forget the owner's numbers: a Delta table keeps them for ever."""
        return f'name another table, or give the app another applicationId ("{owner}" stays in the table)'

    def trouble(self) -> SystemTrouble | None:
        """The silence of the store, where a call has lasted for long."""
        return None if self._since is None else silence(self._uri, self._since)

    def interrupt(self) -> None:
        """Nothing: calls of the library end by its own time-outs."""

    def close(self) -> None:
        """Nothing: each call opens the table."""

    @property
    def _uri(self) -> str:
        if self._table is None:
            raise RuntimeError("the table is not prepared")
        return f"{self.path.rstrip('/')}/{self._table.name}"

    def _open(self) -> Any:
        """The newest state of the table."""
        with self._call():
            return deltalake.DeltaTable(self._uri, storage_options=dict(self.options))

    def _write(self, delta: Any, commit: SinkCommit) -> None:
        """Commit by this state of the table, and fail where it is not the newest any more."""
        transactions = [
            deltalake.Transaction(_application(commit.owner, name), number)
            for name, number in commit.numbers.items()
        ]
        properties = deltalake.CommitProperties(app_transactions=transactions, max_commit_retries=0)
        changes = [change for change in commit.changes if len(change.rows) or len(change.deleted)]
        if not changes:
            delta.create_write_transaction(
                [], mode="append", schema=delta.schema(), partition_by=None, commit_properties=properties
            )
            return
        (change,) = changes
        schema = pa.schema(delta.schema())
        if change.table.primary_key:
            _merge(delta, change, schema, properties)
        else:
            rows = _fitted(change.rows, schema)
            deltalake.write_deltalake(delta, rows, mode="append", commit_properties=properties)

    @contextmanager
    def _call(self) -> Iterator[None]:
        """The failures of the library as those of systems."""
        self._since = time.monotonic()
        try:
            yield
        except CommitFailedError:
            raise _OvertakenError from None
        except TableNotFoundError:
            raise UnknownStreamError(f"there is no Delta table at {self._uri}") from None
        except (DeltaError, pa.ArrowException) as error:
            raise _failure(self._uri, error) from None
        except OSError as error:
            raise UnavailableError(f"{self._uri}: {_first_line(error)}") from None
        finally:
            self._since = None


class _OvertakenError(Exception):
    """Somebody has committed since the state of the table that a commit rests on."""


def _application(owner: str, name: str) -> str:
    return f"{owner}/{name}"


def _numbers(delta: Any, owner: str, names: Collection[str]) -> dict[str, int]:
    versions = {name: delta.transaction_version(_application(owner, name)) for name in names}
    return {name: version for name, version in versions.items() if version is not None}


def _written_schema(table: SinkTable) -> pa.Schema:
    """The columns of a table that is made, with those that are never null."""
    return pa.schema([one.with_nullable(one.name not in table.required) for one in table.schema])


def _unfit_columns(table: SinkTable, delta: Any) -> Iterator[str]:
    """Why the table does not take rows of the declared columns, each with a fix."""
    existing = {one.name: one for one in delta.schema().fields}
    for wanted in deltalake.Schema.from_arrow(_written_schema(table)).fields:
        there = existing.pop(wanted.name, None)
        if there is None:
            add = f"ALTER TABLE … ADD COLUMN `{wanted.name}` {_type_name(wanted.type)}"
            yield f'"{wanted.name}" is missing in the table; {add}, or leave it out of columns'
        elif not _holds(wanted.type, there.type):
            kinds = f"{_type_name(there.type)} in the table, and {_type_name(wanted.type)} here"
            yield f'"{wanted.name}" is {kinds}; cast it in a map, and change columns'
        elif wanted.nullable and not there.nullable:
            yield (
                f'"{wanted.name}" is NOT NULL in the table and may be null here; declare it NOT NULL, or '
                f"ALTER TABLE … ALTER COLUMN `{wanted.name}` DROP NOT NULL"
            )
    for there in existing.values():
        if not there.nullable:
            yield f'"{there.name}" of the table is NOT NULL; add it to columns'


def _holds(wanted: Any, there: Any) -> bool:
    """True if a column of the second type holds each value of the first."""
    if wanted == there:
        return True
    one, other = (getattr(kind, "type", None) for kind in (wanted, there))
    if isinstance(one, str) and isinstance(other, str):
        if one.startswith("decimal(") and other.startswith("decimal("):
            (digits, scale), (more, own) = (map(int, kind[8:-1].split(",")) for kind in (one, other))
            return own >= scale and more - own >= digits - scale
        return other in _WIDER.get(one, frozenset())
    return False


def _type_name(kind: Any) -> str:
    name = getattr(kind, "type", None)
    return name if isinstance(name, str) else str(kind)


def _fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with all columns of the table, in its types."""
    columns = [
        rows.column(one.name).cast(one.type)
        if one.name in rows.column_names
        else pa.nulls(len(rows), one.type)
        for one in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _merge(delta: Any, change: TableChange, schema: pa.Schema, properties: Any) -> None:
    """Replace, add and delete rows by their primary key."""
    keys = change.table.primary_key
    nullable = pa.schema([one.with_nullable(True) for one in schema])
    deleted = pa.table({keys[0]: change.deleted}) if len(change.deleted) else change.rows.slice(0, 0)
    parts = [_fitted(change.rows, nullable), _fitted(deleted, nullable)]
    marks = pa.array([False] * len(parts[0]) + [True] * len(parts[1]), pa.bool_())
    source = pa.concat_tables(parts).append_column(_DELETED, marks)
    merger = delta.merge(
        source,
        predicate=" AND ".join(f"t.{_quoted(key)} = s.{_quoted(key)}" for key in keys),
        source_alias="s",
        target_alias="t",
        commit_properties=properties,
    )
    values = {_quoted(one.name): f"s.{_quoted(one.name)}" for one in change.table.schema}
    merger = merger.when_matched_delete(predicate=f"s.{_DELETED} = true")
    merger = merger.when_matched_update(updates=values)
    merger.when_not_matched_insert(updates=values, predicate=f"s.{_DELETED} = false").execute()


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


_ROW_FAULTS: Final = ("constraint", "invariant", "cast", "non-nullable", "not null")
"""Words of the library about rows that a table does not take."""


def _failure(uri: str, error: Exception) -> Exception:
    text = _first_line(error)
    is_refusal = isinstance(error, pa.ArrowException) or any(word in text.lower() for word in _ROW_FAULTS)
    return (RecordRefusedError if is_refusal else UnavailableError)(f"{uri}: {text}")


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:500] if lines else type(error).__name__
