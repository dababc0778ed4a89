"""Nexmark queries over a real Kafka broker: rows that are read for each CPU second, beside other engines.

Each query is run by its app, then by Kafka Streams, Spark and Flink, as far as they can say it. Every answer
is that of DuckDB. CPU seconds are those of all processes but the broker.
"""

from collections.abc import Iterator

import pyarrow as pa

from bench.kafka.fetched import MissingError
from bench.kafka.topics import broker_of_ones_own, committed, create, fill
from bench.nexmark.answers import answers
from bench.nexmark.peers import PEERS, Source, peer_rows
from bench.nexmark.query_runs import EVENTS, MEASURED, inputs, query_rows
from bench.row import Row


def rows() -> Iterator[Row]:
    """One query after the other over the same topics of eight partitions."""
    with broker_of_ones_own() as (broker, folder), answers(0, EVENTS) as expected:
        fill(broker.bootstrap, inputs())
        create(broker.bootstrap, *(query.name for query in MEASURED))
        counts = {
            stream: sum(len(batch) for batch in committed(broker.bootstrap, stream)) for stream in inputs()
        }

        def values(stream: str) -> list[pa.Array]:
            return [batch.column("value") for batch in committed(broker.bootstrap, stream)]

        system = {"kafka": {"bootstrapServers": broker.bootstrap}}
        peers, source = list(PEERS), Source(broker.bootstrap, counts, folder)
        own_rows = query_rows(folder / "data", system, counts, expected, values)
        for query, ours in zip(MEASURED, own_rows, strict=True):
            yield ours
            for peer in [peer for peer in peers if query.name in peer.queries]:
                try:
                    yield from peer_rows(peer, query, source, expected, ours)
                except MissingError as error:
                    peers.remove(peer)
                    yield Row(f"{peer.name} is left out: {error}", float("nan"), "")
