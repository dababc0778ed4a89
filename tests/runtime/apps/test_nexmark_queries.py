"""Each query of Nexmark, as the example apps say it, beside the answer of DuckDB over the same events."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from bench.nexmark.answers import answers
from bench.nexmark.event_numbers import EventModel
from bench.nexmark.event_records import records
from bench.nexmark.nexmark_queries import FOLDER, QUERIES, NexmarkQuery
from streamapp.spec.parser import parse_data
from streamapp_runtime.systems.stream_system import await_visibility
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import VISIBILITY_SECONDS
from tests.harness.runs.app_runs import AppEnv, Input
from tests.harness.runs.run_systems import ON_KAFKA, ON_SPARK

EVENTS = 2_000
MIDNIGHT, MORNING = 1_767_225_570_000, 1_767_254_370_000
"""Half a minute before 2026-01-01T00:00Z and 08:00Z: days and parts of a day meet in the events."""
MODELS = (
    EventModel(rate=50, beginning=MIDNIGHT),
    EventModel(rate=40, beginning=MORNING, group=37, hot_bidders=2, active_persons=50),
)
OF_SPARK = ("q7", "q14", "q17")
"""Queries with expressions of times, which no worker computes."""


@pytest.fixture(autouse=True)
def code_of_the_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)


def written(query: NexmarkQuery, model: EventModel, end: int, env: AppEnv) -> None:
    for stream in query.inputs:
        env.write(stream, list(_inputs(stream, end, model)), partitions=3)


def _inputs(stream: str, end: int, model: EventModel) -> Iterator[Input]:
    for batch in records(stream, 0, end, model=model):
        for record in batch.to_pylist():
            yield Input(record["key"].decode(), record["value"], record["timestamp"])


def values(query: NexmarkQuery, env: AppEnv) -> pa.ChunkedArray:
    stream = env.prefix + query.name
    partitions = [TopicPartition(stream, index) for index in range(env.system.partitions(stream) or 0)]
    await_visibility(env.system, partitions, VISIBILITY_SECONDS)
    return pa.chunked_array(
        [
            batch.column("value")
            for partition, span in env.system.spans(partitions).items()
            for batch in env.system.read(partition, span.oldest, span.end)
        ],
        pa.binary(),
    )


@pytest.mark.parametrize("model", MODELS, ids=["midnight", "morning"])
@pytest.mark.parametrize("name", sorted(QUERIES.keys() - OF_SPARK))
def test_the_rows_of_a_query_are_those_of_sql(name: str, model: EventModel, env: AppEnv) -> None:
    _compare(QUERIES[name], model, env)


@ON_SPARK
@pytest.mark.parametrize("model", MODELS, ids=["midnight", "morning"])
@pytest.mark.parametrize("name", OF_SPARK)
def test_the_rows_of_a_query_that_spark_evaluates_are_those_of_sql(
    name: str, model: EventModel, env: AppEnv
) -> None:
    _compare(QUERIES[name], model, env)


@ON_KAFKA
@pytest.mark.parametrize("name", ["q8", "q18", "q20"])
def test_the_rows_of_a_query_over_kafka_are_those_of_sql(name: str, env: AppEnv) -> None:
    _compare(QUERIES[name], MODELS[0], env)


def _compare(query: NexmarkQuery, model: EventModel, env: AppEnv) -> None:
    (app,) = parse_data(query.to_the_end()).apps
    written(query, model, EVENTS, env)
    env.run_to_end(app, rows=700)
    with answers(0, EVENTS, model) as expected:
        differences = expected.differences(query, values(query, env))
        assert differences.written > 0
        assert not differences, str(differences)
