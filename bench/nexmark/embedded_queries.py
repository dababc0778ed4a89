"""Nexmark queries on an embedded log: rows that are read for each CPU second, every answer as DuckDB's."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from bench.app_runs import page_views
from bench.nexmark.answers import answers
from bench.nexmark.query_runs import EVENTS, inputs, query_rows
from bench.row import Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition


def rows() -> Iterator[Row]:
    """One app after the other over the same log of four partitions."""
    with tempfile.TemporaryDirectory() as folder, answers(0, EVENTS) as expected:
        data = Path(folder, "data")
        with closing(EmbeddedSystem(data)) as log:
            for stream, batches in inputs().items():
                page_views.to_log(log, stream, batches)
            counts = {stream: _size(log, stream) for stream in inputs()}
        yield from query_rows(
            data, {"embedded": {"path": "data"}}, counts, expected, lambda stream: _values(data, stream)
        )


def _size(log: EmbeddedSystem, stream: str) -> int:
    return sum(span.end - span.oldest for span in log.spans(_partitions(log, stream)).values())


def _values(data: Path, stream: str) -> list[pa.Array]:
    with closing(EmbeddedSystem(data)) as log:
        return [
            batch.column("value")
            for partition, span in log.spans(_partitions(log, stream)).items()
            for batch in log.read(partition, span.oldest, span.end)
        ]


def _partitions(log: EmbeddedSystem, stream: str) -> list[TopicPartition]:
    return [TopicPartition(stream, index) for index in range(log.partitions(stream) or 0)]
