"""Records to write."""

import pyarrow as pa

from streamapp_runtime.systems.stream_system import RECORDS

Content = tuple[bytes | None, bytes | None, int | None]


def batch(contents: list[Content]) -> pa.RecordBatch:
    rows = [dict(zip(RECORDS.names, content, strict=True)) for content in contents]
    return pa.RecordBatch.from_pylist(rows, schema=RECORDS)


def numbered(first: int, count: int, size: int = 1) -> pa.RecordBatch:
    """Records whose keys count on from `first`, with values `size` times as long."""
    return batch(
        [(b"k%d" % number, b"v%d" % number * size, number) for number in range(first, first + count)]
    )
