"""Nexmark events as records of streams: JSON or Avro under the key that producers partition by."""

from collections.abc import Iterator
from functools import cache
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from bench.nexmark.event_numbers import EventModel
from bench.nexmark.events import COLUMNS, KEYS, events, side_input
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.systems.stream_system import RECORDS

BLOCK = 50_000
"""So many events are made at once."""

Encoding = Literal["json", "avro"]


def records(
    stream: str, first: int, end: int, *, encoding: Encoding = "json", model: EventModel | None = None
) -> Iterator[pa.RecordBatch]:
    """The records of a stream that come with the events from one number to another, exclusive."""
    if stream == "side_input":
        yield encoded(stream, side_input(), encoding)
        return
    for start in range(first, end, BLOCK):
        rows = events(start, min(start + BLOCK, end), model)[stream]
        if len(rows):
            yield encoded(stream, rows, encoding)


def encoded(stream: str, rows: pa.RecordBatch, encoding: Encoding) -> pa.RecordBatch:
    """Rows as records that have the time of their event."""
    key = rows.column(KEYS[stream]).cast(pa.string()).cast(pa.binary())
    if "dateTime" in rows.schema.names:
        times = pc.divide(rows.column("dateTime").cast(pa.int64()), 1_000)
    else:
        times = pa.repeat(0, len(rows)).cast(pa.int64())
    return pa.RecordBatch.from_arrays([key, _format(stream, encoding).encode(rows), times], schema=RECORDS)


@cache
def _format(stream: str, encoding: Encoding) -> RecordFormat:
    return open_format(encoding, parse_columns(COLUMNS[stream]))
