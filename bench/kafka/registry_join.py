"""Page views in Avro under a schema registry, joined over a real Kafka broker: beside Kafka Streams.

The join of `kafka.join`, with Apicurio as registry and its serializers in Kafka Streams; users and what comes
out are JSON. The same views come again and again.
"""

from collections.abc import Iterator

from bench.app_runs import page_views
from bench.app_runs.runs import run_app
from bench.engine.registry_join import of_registry, registered_views
from bench.kafka.others import kafka_streams, rate
from bench.kafka.sizes import BATCH, VIEWS, WARM
from bench.kafka.topics import broker_of_ones_own, committed, create, fill
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import open_registry_schemas
from tests.harness.kafka.apicurio import apicurio

BLOCKS = VIEWS // page_views.BLOCK


def rows() -> Iterator[Row]:
    """The join by StreamApp, exactly once, then by Kafka Streams."""
    block = next(page_views.views(page_views.BLOCK))
    wanted = BLOCKS * page_views.real(iter([block]))
    with apicurio() as registry, broker_of_ones_own() as (broker, folder):
        subjects = open_registry_schemas([registry], 30, {}).subjects
        schema_id = subjects.register("views-value", registered_views("avro", block.column("value"), 0)[0])
        values = registered_views("avro", block.column("value"), schema_id)[1]
        block = block.set_column(1, "value", values)
        fill(broker.bootstrap, {"users": page_views.users(), "views": iter([block] * BLOCKS)})
        create(broker.bootstrap, "enriched", "streams")
        app = of_registry("avro", broker.bootstrap, registry)
        run = run_app(app, folder / "data", rows=BATCH)
        ours = run.steady(WARM // BATCH)
        yield Row(f"StreamApp, {VIEWS:,} views", ours, "rows/CPU s")
        own = registry.replace("/ccompat/v7", "/registry/v2")
        spent = kafka_streams(broker.bootstrap, "streams", "exactly_once_v2", VIEWS, folder / "streams", own)
        theirs = rate(spent, WARM)
        compared = Compared("StreamApp", ours)
        yield Row("Kafka Streams, exactly_once_v2", theirs, "rows/CPU s", compared=compared)
        yield Row("  CPU seconds that it takes for each of ours", ours / theirs, "x", Aim(least=5.0))
        for topic in ("enriched", "streams"):
            found = sum(len(batch) for batch in committed(broker.bootstrap, topic))
            if found != wanted:
                raise AssertionError(f"{found:,} rows came out of the join to {topic}, {wanted:,} should")
