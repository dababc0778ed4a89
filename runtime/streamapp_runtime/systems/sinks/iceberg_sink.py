"""An Iceberg table: rows and numbers in one commit, the numbers as properties of its snapshots and of itself.

Those of snapshots expire with them, and those of the table stay where it is set back to an older snapshot. So
both are written, and a table in which they differ is refused.
"""

import json
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from pyiceberg.catalog import Catalog, CatalogType, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    ForbiddenError,
    NoSuchTableError,
    NotInstalledError,
    OAuthError,
    TableAlreadyExistsError,
    UnauthorizedError,
)
from pyiceberg.expressions import In
from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import ancestors_of

from streamapp_runtime.checkpoint import StateUnreadableError
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
    InvalidSettingsError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
)

_NAMES: Final[Mapping[pa.DataType, str]] = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamptz",
}
"""The names of Iceberg for types of Arrow."""


class _OneAttempt(Transaction):
    """A transaction that is committed once, and whose files stay.

    The library would move it behind commits of others. And where a commit is refused it deletes what it
    wrote, also where that is an echo of a commit that was done, whose reply was lost.
    """

    def commit_transaction(self) -> Table:
        """Commit by the state of the table that the transaction began with."""
        self._snapshot_producers = []
        return super().commit_transaction()


@dataclass(slots=True)
class IcebergSink(LakeSink):
    """One Iceberg table of a namespace."""

    catalog: str
    namespace: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    _catalog: Catalog | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        """The full name of the table."""
        return ".".join((self.catalog, *self.namespace, self.table.name))

    def open(self) -> Table:
        """The newest state of the table."""
        return self._opened().load_table((*self.namespace, self.table.name))

    def create(self, table: SinkTable) -> None:
        """Make the table, and its namespace."""
        catalog, schema = self._opened(), written_schema(table)
        try:
            catalog.create_namespace_if_not_exists(self.namespace)
        except Exception:  # where somebody else was first, each catalog tells so in its own way
            if not catalog.namespace_exists(self.namespace):
                raise
        catalog.create_table((*self.namespace, table.name), schema)

    def schema(self, state: Table) -> pa.Schema:
        """The columns that a state of the table has, in types of Arrow."""
        return state.schema().as_arrow()

    def version(self, state: Table) -> str:
        """The id of the snapshot that the state is."""
        snapshot = state.current_snapshot()
        return str(snapshot.snapshot_id) if snapshot else ""

    def scan(self, state: Table, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """The rows of a state of the table, with these of its columns."""
        batches: Iterable[pa.RecordBatch] = state.scan(selected_fields=tuple(names)).to_arrow_batch_reader()
        return batches

    def add(self, state: Table, columns: pa.Schema) -> None:
        """Give the table columns, which may be null."""
        transaction = _OneAttempt(state)
        with transaction.update_schema() as update:
            update.union_by_name(columns)
        transaction.commit_transaction()

    def misfits(self, table: SinkTable, state: Table) -> Iterator[str]:
        """Why the table does not take rows of the declared columns, or cannot replace them."""
        wanted = {one.name: _type_name(one.type) for one in table.schema}
        there = {one.name: (_type_name(one.type), one.nullable) for one in state.schema().as_arrow()}
        yield from misfit_columns(table, wanted, there)
        if not table.primary_key:
            return
        if len(table.primary_key) > 1:
            yield "primaryKey of an Iceberg table is one column; make one of them in a map, or use delta"
        for name in there.keys() - wanted.keys():
            yield f'"{name}" of the table would be lost where a row is replaced; add it to columns'

    def written_numbers(self, state: Table, owner: str, names: Collection[str]) -> dict[str, int]:
        """The numbers by the properties of the table, which those of its snapshots agree with."""
        text = state.properties.get(_property(owner))
        snapshots = ancestors_of(state.current_snapshot(), state.metadata)
        summaries = (one.summary.additional_properties for one in snapshots if one.summary)
        newest = next((one[_property(owner)] for one in summaries if _property(owner) in one), text)
        if newest != text:
            raise StateUnreadableError(
                f'{self.address}: "{_property(owner)}" of the table is not that of its newest snapshot: the '
                f"table was set back to an older one, or the property was changed; {self.forgetting(owner)}"
            )
        return {name: number for name, number in _all_numbers(state, owner).items() if name in names}

    def write(self, state: Table, owner: str, numbers: Mapping[str, int], change: TableChange | None) -> None:
        """Commit by this state of the table: that its newest snapshot is the newest is part of the commit."""
        properties = {_property(owner): json.dumps({**_all_numbers(state, owner), **numbers}, sort_keys=True)}
        schema = state.schema().as_arrow()
        transaction = _OneAttempt(state)
        transaction.set_properties(properties)
        rows = fitted(change.rows, schema) if change else schema.empty_table()
        if change and change.table.primary_key:
            (key,) = change.table.primary_key
            keys = [*change.rows.column(key).to_pylist(), *change.deleted.to_pylist()]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Delete operation did not match any records")
                transaction.overwrite(rows, In(term=key, literals=keys), snapshot_properties=properties)
        else:
            transaction.append(rows, snapshot_properties=properties)
        transaction.commit_transaction()

    def failure(self, error: Exception) -> Exception:
        """The failure of a system that a failure of the library is: these have nothing in common."""
        text = f"{self.address}: {first_line(error)}"
        match error:
            case CommitFailedException() | TableAlreadyExistsError():
                return OvertakenError()
            case NoSuchTableError():
                return UnknownStreamError(f"there is no Iceberg table {self.address}")
            case InvalidSettingsError() | TypeError() | AttributeError() | LookupError():
                return error
            case UnauthorizedError() | ForbiddenError() | OAuthError():
                return DeniedError(text)
            case pa.ArrowException() | ValueError() | NotImplementedError() | ImportError():
                return RecordRefusedError(text)
        return UnavailableError(text)

    def close(self) -> None:
        """Let go of the catalog."""
        if self._catalog is not None:
            self._catalog.close()
        self._catalog = None

    def _opened(self) -> Catalog:
        if self._catalog is None:
            try:
                self._catalog = load_catalog(self.catalog, **self.settings)
            except (ImportError, NotInstalledError) as error:
                raise InvalidSettingsError(f"the catalog {self.catalog}: {first_line(error)}") from None
            except ValueError:  # whose text may have values, those of the Secret too
                mend = f"type is one of {', '.join(one.value for one in CatalogType)}, and needs its uri"
                names = ", ".join(sorted(self.settings)) or "none"
                text = f"the catalog {self.catalog}: its properties ({names}) make no catalog; {mend}"
                raise InvalidSettingsError(text) from None
        return self._catalog


def _property(owner: str) -> str:
    return f"streamapp.{owner}"


def _all_numbers(state: Table, owner: str) -> dict[str, int]:
    numbers: dict[str, int] = json.loads(state.properties.get(_property(owner), "{}"))
    return numbers


def _type_name(kind: pa.DataType) -> str:
    """The name of Iceberg for a type, of parts also that they are never null."""
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{_part_name(kind.value_field)}>"
    if pa.types.is_map(kind):
        return f"map<{_type_name(kind.key_type)}, {_part_name(kind.item_field)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{one.name}: {_part_name(one)}' for one in kind)}>"
    return _NAMES.get(kind, str(kind))


def _part_name(part: pa.Field) -> str:
    return _type_name(part.type) + " required" * (not part.nullable)
