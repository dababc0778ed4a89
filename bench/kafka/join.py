"""Page views joined with users over a real Kafka broker: CPU seconds, beside Kafka Streams and Spark.

All read the same topics of one broker on this machine (8 partitions, JSON of about 100 bytes, 100,000 users)
and write JSON to a topic of their own. StreamApp and Kafka Streams keep users in RocksDB or LMDB; so does
Spark, for which users are a stream that may change. What each takes to start is left out of rates, as are
its first views; CPU seconds are those of the whole process tree. The broker's own are told apart. Spark's own
ways are slow: they are measured with fewer rows, and compared by what a row takes.
"""

from collections.abc import Iterator
from pathlib import Path

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN
from bench.app_runs.profile import profile
from bench.app_runs.redis_server import cpu_of
from bench.app_runs.runs import run_app
from bench.kafka.fetched import MissingError
from bench.kafka.others import kafka_streams, rate, stock_spark, wall
from bench.kafka.sizes import BATCH, STOCK_BATCH, STOCK_BATCHES, VIEWS, WARM
from bench.kafka.topics import broker_of_ones_own, check_joined, create, fill, on_kafka
from bench.row import Aim, Compared, Row
from tests.harness.kafka.broker import Broker

STOCK = {
    "stream_to_stream": ("Spark, stream-stream join", 10.0),
    "with_state": ("Spark, transformWithStateInPandas", 20.0),
}


def rows() -> Iterator[Row]:
    """The join by StreamApp, exactly once, then by others."""
    with broker_of_ones_own() as (broker, folder):
        fill(broker.bootstrap, {"users": page_views.users(), "views": page_views.views(VIEWS)})
        create(broker.bootstrap, "enriched")
        spent = cpu_of(broker.pid)
        run = run_app(on_kafka(JOIN, broker.bootstrap), folder / "data", rows=BATCH)
        check_joined(broker.bootstrap, "enriched", VIEWS)
        ours = run.steady(WARM // BATCH)
        beside = f"{run.clock(WARM // BATCH):,.0f} rows/s by the clock; {_broker(broker, spent)}"
        yield Row(f"StreamApp, {VIEWS:,} views", ours, "rows/CPU s", beside=beside)
        yield from profile(run, WARM // BATCH)
        try:
            yield from _streams(broker, folder, ours)
            yield from _stock(broker, folder, ours)
        except MissingError as error:
            yield Row(f"left out: {error}", float("nan"), "")


def _streams(broker: Broker, folder: Path, ours: float) -> Iterator[Row]:
    for guarantee in ("exactly_once_v2", "at_least_once"):
        out = f"streams-{guarantee}"
        create(broker.bootstrap, out)
        spent = cpu_of(broker.pid)
        told = kafka_streams(broker.bootstrap, out, guarantee, VIEWS, folder / out)
        check_joined(broker.bootstrap, out, VIEWS)
        theirs = rate(told, WARM)
        beside = f"{wall(told, WARM)}; {_broker(broker, spent)}"
        yield Row(
            f"Kafka Streams, {guarantee}",
            theirs,
            "rows/CPU s",
            beside=beside,
            compared=Compared("StreamApp", ours),
        )
        yield Row("  CPU seconds that it takes for each of ours", ours / theirs, "x", Aim(least=5.0))


def _stock(broker: Broker, folder: Path, ours: float) -> Iterator[Row]:
    for way, (name, aim) in STOCK.items():
        create(broker.bootstrap, way)
        told = stock_spark(way, broker.bootstrap, folder / way, batches=STOCK_BATCHES)
        theirs = rate(told, STOCK_BATCH)
        beside, compared = wall(told, STOCK_BATCH), Compared("StreamApp", ours)
        yield Row(f"{name}, {told[-1].rows:,} rows", theirs, "rows/CPU s", beside=beside, compared=compared)
        yield Row("  CPU seconds that it takes for each of ours", ours / theirs, "x", Aim(least=aim))


def _broker(broker: Broker, before: float) -> str:
    return f"the broker took {cpu_of(broker.pid) - before:.0f} CPU s"
