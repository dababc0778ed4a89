"""The newest rows of a stream, read anew for a page that asks."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.formats.decoded_rows import RowDecoder
from streamapp_runtime.lanes.records.version_end import import_ends
from streamapp_runtime.redacted_output import redacted
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import SystemConnections
from streamapp_runtime.systems.stream_system import (
    InvalidSettingsError,
    OutOfRangeError,
    UnavailableError,
    UnknownStreamError,
)

MOST_ROWS: Final = 20
LONGEST_VALUE: Final = 500
"""So many characters of a value are shown."""
_LAST_OFFSETS: Final = 40
"""So much of each partition is read: a part of the offsets may be markers of transactions."""
_MOST_PARTITIONS: Final = 50
_FAILURES: Final = (
    InvalidSettingsError,
    OutOfRangeError,
    StateUnreadableError,
    UnavailableError,
    UnknownStreamError,
    ValueError,
)


def newest_rows(app: StreamApp, connections: SystemConnections, name: str) -> str:
    """The newest records of a stream that the app declares, a line each; or why there are none."""
    if name not in {stream.name for stream in app.spec.streams}:
        return "a stream between the app's own operators: its records are not shown\n"
    if connections.is_table(name):
        return "a table of another system: look into it with that system's tools\n"
    try:
        with closing(Systems(connections)) as systems:
            records = sorted(_records(app, systems, name), key=lambda record: record["timestamp"] or 0)
    except _FAILURES as error:
        return f"cannot be read now: {redacted(str(error))}\n"
    if not records:
        return "there are no records\n"
    return "".join(f"{_line(record)}\n" for record in records[-MOST_ROWS:])


def _records(app: StreamApp, systems: Systems, name: str) -> Iterator[dict[str, Any]]:
    """The last records of each partition, with rows as values where the app says the columns."""
    stream = app.spec.stream(name)
    schemas = systems.schemas(name) if stream.needs_registry else None
    decoder = RowDecoder.of(stream, schemas, lambda _: None) if stream.columns else None
    partitions = systems.partitions_of([name])[:_MOST_PARTITIONS]
    for partition, span in systems.spans(partitions).items():
        start = max(span.oldest, span.end - _LAST_OFFSETS)
        batches = list(systems.read(partition, start, span.end, headers=True))
        if batches:
            records = pa.concat_batches(batches)
            if stream.refresh is not None:
                records = records.filter(pc.invert(import_ends(records)))
            yield from _rows(partition, records.slice(max(len(records) - MOST_ROWS, 0)), decoder)


def _rows(
    partition: Partition, records: pa.RecordBatch, decoder: RowDecoder | None
) -> Iterator[dict[str, Any]]:
    shown = decoder.decoded(str(partition), records) if decoder else records
    for record in shown.to_pylist():
        yield record | {"partition": partition.index}


def _line(record: dict[str, Any]) -> str:
    place = f"{record['partition']}#{record['offset']}"
    return f"{place:>12}  {_text(record['key'])}  {_text(record['value'])}"


def _text(content: bytes | None) -> str:
    text = "null" if content is None else content.decode(errors="backslashreplace")
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
