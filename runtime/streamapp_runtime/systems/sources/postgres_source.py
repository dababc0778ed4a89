"""Tables and views of a PostgreSQL database, each read by one query in a transaction that writes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from streamapp_runtime.systems.sinks.postgres_session import PostgresSession
from streamapp_runtime.systems.sinks.postgres_tables import (
    INFINITE_TIME,
    TableColumn,
    has_infinite_time,
    own_type,
    quoted,
    quoted_column,
    read_expression,
    reads,
)
from streamapp_runtime.systems.sinks.sink import SinkTable
from streamapp_runtime.systems.sources.table_source import (
    TableSnapshot,
    fitted,
    missing_column,
    null_column,
)
from streamapp_runtime.systems.stream_system import RecordRefusedError, UnknownStreamError


@dataclass(slots=True)
class PostgresSource:
    """The tables of one database, which has no versions of them."""

    session: PostgresSession

    def newest(self, table: SinkTable) -> TableSnapshot:
        """The table as it is when its rows are asked for."""
        columns = self.session.columns(table.name) if table.name.count(".") < 2 else []
        if not columns:
            raise UnknownStreamError(f'there is no table "{table.name}" in {self.session.address}')
        return TableSnapshot("", tuple(_misfits(table, columns)), partial(self._batches, table))

    def close(self) -> None:
        """Let go of the connection."""
        self.session.close()

    def _batches(self, table: SinkTable) -> Iterator[pa.RecordBatch]:
        selected = ", ".join(f"{read_expression(one)} AS {quoted_column(one.name)}" for one in table.schema)
        place = f"{self.session.address}/{table.name}"
        for batch in self.session.batches(f"SELECT {selected} FROM {quoted(table.name)}"):
            rows = fitted(batch, table, place)
            for name, values in zip(rows.schema.names, rows.columns, strict=True):
                if has_infinite_time(values):
                    raise RecordRefusedError(f'{place}: "{name}": {INFINITE_TIME}')
            yield rows


def _misfits(table: SinkTable, columns: list[TableColumn]) -> Iterator[str]:
    """Why rows of these columns are none of the declared ones, each with a fix."""
    by_name = {column.name: column for column in columns}
    for column in table.columns:
        there, wanted = by_name.get(column.name), own_type(table.schema.field(column.name).type)
        if there is None:
            yield missing_column(column.name, [*by_name])
        elif wanted is None or not reads(wanted, there.type):
            kinds = f"{there.type} in the table, which {column.type} does not hold"
            yield f'"{column.name}" is {kinds}; change columns, or read a view that casts it'
        elif not (there.required or column.nullable):
            yield null_column(column.name)
