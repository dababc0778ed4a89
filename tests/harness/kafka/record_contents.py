"""Records to write."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp_runtime.systems.stream_system import HEADERS, RECORDS

Content = tuple[bytes | None, bytes | None, int | None]


def batch(contents: list[Content]) -> pa.RecordBatch:
    rows = [dict(zip(RECORDS.names, content, strict=True)) for content in contents]
    return pa.RecordBatch.from_pylist(rows, schema=RECORDS)


def with_headers(
    records: pa.RecordBatch, headers: Sequence[Sequence[tuple[str, bytes | None]]]
) -> pa.RecordBatch:
    """The records with the headers of each."""
    listed = [[{"name": name, "value": value} for name, value in each] for each in headers]
    return records.append_column(HEADERS, pa.array(listed, HEADERS.type))


def numbered(first: int, count: int, size: int = 1) -> pa.RecordBatch:
    """Records whose keys count on from `first`, with values `size` times as long."""
    return batch(
        [(b"k%d" % number, b"v%d" % number * size, number) for number in range(first, first + count)]
    )
