"""A Delta table: rows and numbers in one commit, the numbers as versions of application transactions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import deltalake
import pyarrow as pa
from deltalake.exceptions import CommitFailedError, DeltaError, DeltaProtocolError, TableNotFoundError

from streamapp_runtime.systems.sinks.lake_sink import (
    LakeSink,
    OvertakenError,
    first_line,
    fitted,
    misfit_columns,
    written_schema,
)
from streamapp_runtime.systems.sinks.sink import SinkTable, TableChange
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
)

_RETENTION: Final = "delta.setTransactionRetentionDuration"
"""A property of tables by which application transactions are forgotten."""
_DELETED: Final = "__streamapp_deleted"
_ROW_FAULTS: Final = ("constraint", "invariant", "cast", "non-nullable", "not null")
"""Words of the library about rows that a table does not take."""
_LACKING_FEATURES: Final = "Unsupported table features"
"""Words of the library about a table that asks its writers for more than it can; a failed commit to it."""


@dataclass(slots=True)
class DeltaSink(LakeSink):
    """One Delta table below a path."""

    path: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        """The folder of the table, or its URL."""
        return f"{self.path.rstrip('/')}/{self.table.name}"

    def open(self) -> Any:
        """The newest state of the table."""
        return deltalake.DeltaTable(self.address, storage_options=dict(self.options))

    def create(self, table: SinkTable) -> None:
        """Make the table."""
        schema = deltalake.Schema.from_arrow(written_schema(table))
        deltalake.DeltaTable.create(self.address, schema, mode="ignore", storage_options=dict(self.options))

    def schema(self, state: Any) -> pa.Schema:
        """The columns that a state of the table has, in types of Arrow."""
        return pa.schema(state.schema())

    def version(self, state: Any) -> str:
        """The number of the state."""
        return str(state.version())

    def scan(self, state: Any, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """The rows of a state of the table, with these of its columns."""
        batches: Iterable[pa.RecordBatch] = pa.RecordBatchReader.from_stream(state.scan(columns=list(names)))
        return batches

    def add(self, state: Any, columns: pa.Schema) -> None:
        """Give the table columns, which may be null."""
        properties = deltalake.CommitProperties(max_commit_retries=0)
        state.alter.add_columns(deltalake.Schema.from_arrow(columns).fields, commit_properties=properties)

    def misfits(self, table: SinkTable, state: Any) -> Iterator[str]:
        """Why the table does not take rows of the declared columns, or would forget the numbers."""
        wanted = deltalake.Schema.from_arrow(written_schema(table)).fields
        there = {one.name: (_type_name(one.type), one.nullable) for one in state.schema().fields}
        yield from misfit_columns(table, {one.name: _type_name(one.type) for one in wanted}, there)
        if retention := state.metadata().configuration.get(_RETENTION):
            lost = f"{_RETENTION} is {retention}, after which it is forgotten what the table has"
            yield f"{lost}; take the property away"

    def written_numbers(self, state: Any, owner: str, names: Collection[str]) -> dict[str, int]:
        """The versions of the owner's application transactions."""
        versions = {name: state.transaction_version(_application(owner, name)) for name in names}
        return {name: version for name, version in versions.items() if version is not None}

    def write(self, state: Any, owner: str, numbers: Mapping[str, int], change: TableChange | None) -> None:
        """Commit by this state of the table, and fail where it is not the newest any more."""
        transactions = [
            deltalake.Transaction(_application(owner, name), number) for name, number in numbers.items()
        ]
        properties = deltalake.CommitProperties(app_transactions=transactions, max_commit_retries=0)
        if change is None:
            state.create_write_transaction(
                [], mode="append", schema=state.schema(), partition_by=None, commit_properties=properties
            )
            return
        schema = pa.schema(state.schema())
        if change.table.primary_key:
            _merge(state, change, schema, properties)
        else:
            rows = fitted(change.rows, schema)
            deltalake.write_deltalake(state, rows, mode="append", commit_properties=properties)

    def failure(self, error: Exception) -> Exception:
        """The failure of a system that a failure of the library is."""
        text = f"{self.address}: {first_line(error)}"
        match error:
            case DeltaError() if isinstance(error, DeltaProtocolError) or _LACKING_FEATURES in text:
                return DeniedError(f"{text}; drop these of the table")
            case CommitFailedError():
                return OvertakenError()
            case TableNotFoundError():
                return UnknownStreamError(f"there is no Delta table at {self.address}")
            case pa.ArrowException():
                return RecordRefusedError(text)
            case DeltaError() | OSError():
                is_refusal = isinstance(error, DeltaError) and any(
                    word in text.lower() for word in _ROW_FAULTS
                )
                return (RecordRefusedError if is_refusal else UnavailableError)(text)
        return error

    def close(self) -> None:
        """Nothing: each call opens the table."""


def _application(owner: str, name: str) -> str:
    return f"{owner}/{name}"


def _type_name(kind: Any) -> str:
    name = getattr(kind, "type", None)
    return name if isinstance(name, str) else str(kind)


def _merge(delta: Any, change: TableChange, schema: pa.Schema, properties: Any) -> None:
    """Replace, add and delete rows by their primary key."""
    keys = change.table.primary_key
    nullable = pa.schema([one.with_nullable(True) for one in schema])
    deleted = pa.table({keys[0]: change.deleted}) if len(change.deleted) else change.rows.slice(0, 0)
    parts = [fitted(change.rows, nullable), fitted(deleted, nullable)]
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
