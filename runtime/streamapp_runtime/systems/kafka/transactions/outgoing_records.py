"""Records on their way to brokers: of the right form, each with a time."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.stream_system import RECORDS


def check_records(partition: Partition, records: pa.RecordBatch) -> pa.RecordBatch:
    """The same records; a ValueError where they are of another form."""
    if not records.schema.equals(RECORDS):
        raise ValueError(f"records for {partition} have the schema {records.schema}, wanted is {RECORDS}")
    return records


def with_timestamps(records: pa.RecordBatch, now_ms: int) -> pa.RecordBatch:
    """The records; those without a time are of now."""
    if not records.column("timestamp").null_count:
        return records
    times = records.column("timestamp").fill_null(now_ms)
    return pa.record_batch([*records.columns[:2], times], schema=RECORDS)


def as_records(entries: Sequence[tuple[bytes, bytes | None]], now_ms: int) -> pa.RecordBatch:
    """Keys and values as records of now."""
    keys, values = zip(*entries, strict=True)
    return pa.record_batch([keys, values, [now_ms] * len(entries)], schema=RECORDS)
