"""Views counted by user and minute of event time over a real Kafka broker, beside Spark's `groupBy(window)`.

Both read the same topic of 8 partitions, leave the watermark ten seconds behind, put a window out once it
is complete, and write JSON to a topic of their own. Spark keeps its state in RocksDB, StreamApp as it does
unless told otherwise. First views are left out of rates.
"""

import json
from collections.abc import Iterator

from bench.app_runs import page_views
from bench.app_runs.apps import COUNTS
from bench.app_runs.profile import profile
from bench.app_runs.runs import run_app
from bench.kafka.fetched import MissingError
from bench.kafka.others import COUNTING, rate, stock_spark, wall
from bench.kafka.sizes import BATCH, STOCK_BATCH, STOCK_BATCHES, VIEWS, WARM
from bench.kafka.topics import broker_of_ones_own, committed, create, fill, on_kafka
from bench.row import Compared, Row

USERS = 10_000
MINUTE = 60_000  # views have times a millisecond apart
DELAY = 10_000


def rows() -> Iterator[Row]:
    """The counts by StreamApp, exactly once, then by Spark."""
    with broker_of_ones_own() as (broker, folder):
        fill(broker.bootstrap, {"views": page_views.views(VIEWS, USERS)})
        create(broker.bootstrap, "counted", COUNTING)
        run = run_app(on_kafka(COUNTS, broker.bootstrap), folder / "data", rows=BATCH)
        _check(broker.bootstrap, "counted", VIEWS)
        ours = run.steady(WARM // BATCH)
        beside = f"{run.clock(WARM // BATCH):,.0f} rows/s by the clock"
        yield Row(f"StreamApp, {VIEWS:,} views", ours, "rows/CPU s", beside=beside)
        yield from profile(run, WARM // BATCH)
        try:
            told = stock_spark(COUNTING, broker.bootstrap, folder / COUNTING, batches=2 * STOCK_BATCHES)
        except MissingError as error:
            yield Row(f"left out: {error}", float("nan"), "")
            return
        theirs = rate(told, STOCK_BATCH)
        name = f"Spark, groupBy(window), {told[-1].rows:,} rows"
        beside, compared = wall(told, STOCK_BATCH), Compared("StreamApp", ours)
        yield Row(name, theirs, "rows/CPU s", beside=beside, compared=compared)
        yield Row("  CPU seconds that it takes for each of ours", ours / theirs, "x")


def _check(brokers: str, topic: str, views: int) -> None:
    """Every view of every minute that is complete is counted once."""
    wanted = (views - DELAY) // MINUTE * MINUTE
    values = (value for batch in committed(brokers, topic) for value in batch.column("value").to_pylist())
    found = sum(json.loads(value)["n"] for value in values)
    if found != wanted:
        raise AssertionError(f"{found:,} views are in the windows of {topic}, {wanted:,} should be")
