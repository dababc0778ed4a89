"""The change that records make in a table: of each key the last row stays, and a tombstone deletes."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.systems.sinks.sink import SinkTable, TableChange
from streamapp_runtime.systems.stream_system import RecordRefusedError

_PLACE = "\0place"


def table_change(
    table: SinkTable, rows: pa.RecordBatch, keys: pa.BinaryArray, tombstones: pa.BooleanArray
) -> TableChange:
    """The change by records in their order: a row for each, of which tombstones have none."""
    rows = pa.table(rows)
    if not table.primary_key:
        if tombstones.true_count:
            raise _refused(table, "a row is deleted, and a table without primaryKey keeps all of them")
        return TableChange(table, rows, pa.array([], pa.null()))
    columns = [rows.column(name).combine_chunks() for name in table.primary_key]
    if tombstones.true_count:
        if table.primary_key != (table.key,):
            reason = f"a row is deleted by its key alone; primaryKey would have to be [{table.key or ''}]"
            raise _refused(table, reason)
        columns = [pc.if_else(tombstones, _key_values(table, keys, columns[0].type), columns[0])]
    for name, column in zip(table.primary_key, columns, strict=True):
        if column.null_count:
            raise _refused(table, f'"{name}" of the primary key is null in a row')
    last = _last_places(table, columns)
    is_deleted = tombstones.take(last)
    return TableChange(
        table,
        rows.take(last.filter(pc.invert(is_deleted))),
        columns[0].take(last.filter(is_deleted)) if is_deleted.true_count else pa.array([], columns[0].type),
    )


def _last_places(table: SinkTable, columns: list[pa.Array]) -> pa.Int64Array:
    """The place of the last record of each key, in their order."""
    places = pa.array(np.arange(len(columns[0])), pa.int64())
    names = list(table.primary_key)
    keyed = pa.Table.from_arrays([*columns, places], names=[*names, _PLACE])
    last = keyed.group_by(names).aggregate([(_PLACE, "max")]).column(f"{_PLACE}_max")
    return pa.array(np.sort(last.to_numpy()), pa.int64())


def _key_values(table: SinkTable, keys: pa.BinaryArray, kind: pa.DataType) -> pa.Array:
    """The values of the key column that keys of records are: their text, or they themselves."""
    if pa.types.is_binary(kind):
        return keys
    try:
        texts = keys.cast(pa.string())
        if pa.types.is_timestamp(kind):
            times = texts.cast(pa.timestamp("us"))
            return times if kind.tz is None else pc.assume_timezone(times, kind.tz)
        return texts.cast(kind)
    except pa.ArrowInvalid as error:
        raise _refused(table, f'the key of a record is no value of "{table.key}": {error}') from None


def _refused(table: SinkTable, reason: str) -> RecordRefusedError:
    return RecordRefusedError(f'table "{table.name}": {reason}')
