"""Records on their way to brokers, each with a time."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp_runtime.systems.stream_system import RECORDS


def with_timestamps(records: pa.RecordBatch, now_ms: int) -> pa.RecordBatch:
    """The records; those without a time are of now."""
    if not records.column("timestamp").null_count:
        return records
    times = records.column("timestamp").fill_null(now_ms)
    return records.set_column(2, RECORDS.field(2), times)


def as_records(entries: Sequence[tuple[bytes, bytes | None]], now_ms: int) -> pa.RecordBatch:
    """Keys and values as records of now."""
    keys, values = zip(*entries, strict=True)
    return pa.record_batch([keys, values, [now_ms] * len(entries)], schema=RECORDS)
