"""The peers of the Nexmark bench: the queries of each, the part that is measured, and rows over a broker."""

from pathlib import Path

import pytest

from bench.kafka.fetched import MissingError
from bench.kafka.others import Progress
from bench.kafka.topics import fill
from bench.nexmark.answers import answers
from bench.nexmark.event_numbers import EventModel
from bench.nexmark.event_records import records
from bench.nexmark.events import KEYS
from bench.nexmark.nexmark_queries import QUERIES
from bench.nexmark.peer_queries import LEFT_OUT
from bench.nexmark.peers import PEERS, STATELESS, Source, peer_answer
from bench.nexmark.query_runs import rate_row
from tests.harness.kafka.broker import Broker
from tests.harness.machine.left_out import leave_out

EVENTS = 5_000


def test_a_peer_is_asked_each_query_or_it_is_named_with_a_reason() -> None:
    assert {peer.prefix for peer in PEERS} == LEFT_OUT.keys()
    for peer in PEERS:
        reasons = LEFT_OUT[peer.prefix]
        assert peer.queries.keys() | reasons.keys() == QUERIES.keys()
        assert not peer.queries.keys() & reasons.keys()
        assert peer.queries.keys() >= set(STATELESS)
        assert all(reasons.values())


def test_queries_whose_rows_are_updated_have_the_same_key_for_all() -> None:
    for peer in PEERS:
        for name, query in QUERIES.items():
            if name in peer.queries and query.updated_by:
                assert peer.queries[name].key == query.updated_by


def test_a_rate_is_that_of_the_part_between_a_tenth_and_nine_tenths() -> None:
    told = [
        Progress(0, 100.0, 1_000.0),
        Progress(20, 110.0, 1_005.0),  # a tenth of all that was read
        Progress(100, 113.0, 1_007.0),
        Progress(180, 118.0, 1_013.0),  # nine tenths
        Progress(200, 300.0, 2_000.0),
    ]
    row = rate_row("q0", told, 50, 7)  # read four times, counting what was written in between
    assert row.figure == pytest.approx(50 * 160 / 200 / 8)
    assert row.beside.startswith("5 by the clock; 50 rows, 7 of the answer")


@pytest.mark.nightly
def test_the_sessions_of_kafka_streams_are_those_of_sql(broker: Broker, tmp_path: Path) -> None:
    query = QUERIES["q11"]
    model = EventModel(rate=50)
    streams = {stream: list(records(stream, 0, EVENTS, model=model)) for stream in KEYS}
    fill(broker.bootstrap, {stream: iter(batches) for stream, batches in streams.items()})
    counts = {stream: sum(map(len, batches)) for stream, batches in streams.items()}
    (peer,) = (peer for peer in PEERS if peer.prefix == "streams")
    with answers(0, EVENTS, model) as expected:
        try:
            told, differences = peer_answer(peer, query, Source(broker.bootstrap, counts, tmp_path), expected)
        except MissingError as error:
            leave_out(str(error))
    assert told[-1].rows >= sum(counts[stream] for stream in query.inputs)
    assert differences.written > 0
    assert not differences, str(differences)
