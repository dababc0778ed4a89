"""A small micro-batch on a real Kafka broker, from its orders to its reports, its transactions committed.

Milliseconds of the clock, of one row and of 1,000: an idle machine is what this is for. The median of the
last batches of many, and of some soon after the start.
"""

from collections.abc import Iterator

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN, with_lanes
from bench.app_runs.runs import run_app
from bench.engine.overhead import BATCHES, row
from bench.kafka.topics import broker_of_ones_own, create, fill, on_kafka
from bench.row import Row

MEASURED = ((1, 1), (1, 1_000), (2, 1_000))


def rows() -> Iterator[Row]:
    """By lanes and size."""
    for lanes, size in MEASURED:
        with broker_of_ones_own() as (broker, folder):
            views = page_views.views(BATCHES * size)
            fill(broker.bootstrap, {"users": page_views.users(1), "views": views})
            create(broker.bootstrap, "enriched")
            together = with_lanes(JOIN, independent=False)  # a batch is one of all lanes
            app = on_kafka(together, broker.bootstrap)
            run = run_app(app, folder / "data", rows=size, processors=lanes, batches=BATCHES)
            yield row(run, lanes, size, most=250)
