"""Nexmark queries over a real Kafka broker: rows that are read for each CPU second, every answer as DuckDB's.

CPU seconds are those of the app's processes; the broker's are apart.
"""

from collections.abc import Iterator

import pyarrow as pa

from bench.kafka.topics import broker_of_ones_own, committed, create, fill
from bench.nexmark.answers import answers
from bench.nexmark.nexmark_queries import QUERIES
from bench.nexmark.query_runs import EVENTS, inputs, query_rows
from bench.row import Row


def rows() -> Iterator[Row]:
    """One app after the other over the same topics of eight partitions."""
    with broker_of_ones_own() as (broker, folder), answers(0, EVENTS) as expected:
        fill(broker.bootstrap, inputs())
        create(broker.bootstrap, *QUERIES)
        counts = {
            stream: sum(len(batch) for batch in committed(broker.bootstrap, stream)) for stream in inputs()
        }

        def values(stream: str) -> list[pa.Array]:
            return [batch.column("value") for batch in committed(broker.bootstrap, stream)]

        system = {"kafka": {"bootstrapServers": broker.bootstrap}}
        yield from query_rows(folder / "data", system, counts, expected, values)
