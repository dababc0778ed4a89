"""Reading: records of a stream's ranges as slices, decoded, with what could not be decoded set apart."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.tasks.partition import Partition
from streamapp_runtime.formats.envelope import Message, open_all
from streamapp_runtime.formats.format import Format
from streamapp_runtime.lanes.orders import ReadRange
from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.program.operations import Read, Role
from streamapp_runtime.systems.system import System

ENVELOPED = frozenset({Role.INTERMEDIATE, Role.BROADCAST})
"""Streams that the app makes between its stages: a byte before each value says whose message it is."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that could not be decoded."""

    stream: str
    partition: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The rows of some records, and what was wrong with others."""

    rows: Slice
    size: int
    bad: tuple[BadRecord, ...]


def take(
    read: Read, form: Format, asked: ReadRange, task: int, number: int, system: System
) -> Iterator[Taken]:
    """The rows of a range, batch by batch; `number` is the range's place in the lane's order."""
    for records in system.read(Partition(read.topic, asked.partition), asked.start, asked.end):
        yield _decoded(read, form, records, asked, task, number)


def _decoded(
    read: Read, form: Format, records: pa.RecordBatch, asked: ReadRange, task: int, number: int
) -> Taken:
    offsets, values = records.column("offset"), records.column("value")
    size = values.nbytes
    if read.role in ENVELOPED:
        opened = open_all(values)
        user = opened.types == Message.USER
        values = opened.values
        if not user.all():
            mask = pa.array(user)
            records, values, offsets = records.filter(mask), values.filter(mask), offsets.filter(mask)
    decoded = form.decode(values)
    count = len(values)
    rows = Slice(
        task=pa.array(np.full(count, task, np.int32)),
        key=_keys(read, records.column("key"), decoded.columns),
        time=_times(read, records.column("timestamp"), decoded.columns),
        tombstone=values.is_null(),
        source=pa.array(np.full(count, number, np.int32)),
        offset=offsets,
        columns=tuple(decoded.columns.columns),
    )
    if not decoded.bad:
        return Taken(rows, size, ())
    bad = tuple(
        BadRecord(asked.stream, asked.partition, offsets[each.index].as_py(), each.reason)
        for each in decoded.bad
    )
    return Taken(rows.filter(decoded.good()), size, bad)


def _keys(read: Read, keys: pa.Array, columns: pa.RecordBatch) -> pa.Array:
    """The record's own key; where it has none, the text of the column that is said to be its key."""
    if read.key is None or not keys.null_count:
        return keys
    said = columns.column(read.key)
    text = said.cast(pa.string()) if not pa.types.is_binary(said.type) else said
    return pc.coalesce(keys, text.cast(pa.binary()))


def _times(read: Read, stamps: pa.Array, columns: pa.RecordBatch) -> pa.Array:
    """The time of the event where a column tells it, else the record's."""
    if read.event_time is None:
        return stamps
    column = columns.column(read.event_time)
    return pc.coalesce(column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()), stamps)
