"""Which operation runs in which layer, what layers look like to Spark, and where rows wait for a batch."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.operators.tables.table_operations import LookUp, WriteTable
from streamapp_runtime.program.program import Program, PythonLayer, SqlLayer
from streamapp_runtime.program.sql_layer import apply_layer
from tests.harness.engine.compiled_apps import PARTITIONS, app, layer_of, program_of, refusal, task

USERS = [{"name": "users", "sideInputs": [{"stream": "users"}]}]
OUT = {"name": "o", "sendTo": {"from": "m", "stream": "out"}}


def test_layers_are_one_narrow_line_for_spark(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "f", "filter": {"from": "views", "where": "n > 0"}},
            {"name": "j", "joinTable": {"from": "f", "table": "users", "select": "user, tier + n AS s"}},
            {"name": "e", "flatMap": {"from": "views", "select": "explode(array(n)) AS n, user"}},
            {"name": "a", "aggregate": {"from": "e", "aggregates": "sum(n) / count(*) AS mean"}},
            {"name": "o", "sendTo": {"from": "j", "stream": "out"}},
            {"name": "o2", "sendTo": {"from": "a", "stream": "out"}},
            {"name": "o3", "sendTo": {"from": "e", "stream": "out"}},
            tables=USERS,
        ),
    )
    rows = spark.createDataFrame([], program.schema).mapInArrow(same, program.schema)
    for layer in program.layers[1:]:
        rows = (
            apply_layer(rows, layer) if isinstance(layer, SqlLayer) else rows.mapInArrow(same, program.schema)
        )
    names = []
    node = rows._jdf.queryExecution().executedPlan()
    while node.children().size():
        assert node.children().size() == 1
        names.append(node.nodeName())
        node = node.children().apply(0)
    assert names.count("MapInArrow") == 3
    assert not [name for name in names if "Exchange" in name]


def test_a_long_chain_of_filters_and_maps_stays_short_for_spark(spark: SparkSession) -> None:
    def plan_of(length: int) -> int:
        operators: list[dict[str, Any]] = []
        source = "views"
        for number in range(length):
            select = "concat(initcap(user), page) AS user, page, n + 1 AS n, ts"
            operators.append({"name": f"m{number}", "map": {"from": source, "select": select}})
            where = {"from": f"m{number}", "where": "user > 'a' AND n > 0"}
            operators.append({"name": f"f{number}", "filter": where})
            source = f"f{number}"
        program = program_of(
            spark, app(*operators, {"name": "o", "sendTo": {"from": source, "stream": "out"}})
        )
        (layer,) = (layer for layer in program.layers if isinstance(layer, SqlLayer))
        rows = apply_layer(spark.createDataFrame([], program.schema), layer)
        return len(rows._jdf.queryExecution().executedPlan().toString())

    assert plan_of(12) < 3 * plan_of(6)


def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def test_a_choice_of_columns_needs_no_sql_and_everything_is_one_worker(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "c", "map": {"from": "views", "select": "page AS p, user"}},
            {"name": "m", "joinTable": {"from": "c", "table": "users", "select": "p, users.country, user"}},
            OUT,
            tables=USERS,
        ),
    )
    (layer,) = program.layers
    assert isinstance(layer, PythonLayer)
    assert task(program, "m").operation == LookUp("users", False, None, (0, 3, 1))


def test_all_operations_on_a_table_are_in_one_layer(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "early", "joinTable": {"from": "views", "table": "users"}},
            {"name": "f", "filter": {"from": "views", "where": "pmod(n, 2) > 0"}},
            {"name": "late", "joinTable": {"from": "f", "table": "users"}},
            {"name": "o", "sendTo": {"from": "early", "stream": "out"}},
            {"name": "o2", "sendTo": {"from": "late", "stream": "out"}},
            tables=USERS,
        ),
    )
    assert layer_of(program, "early") == layer_of(program, "late") == layer_of(program, "users/fill-0") == 2


@pytest.mark.parametrize(
    ("select", "wanted"),
    [("initcap(user) AS user, n", [("test.app.a2.hop", PARTITIONS)]), ("user, n + tier AS n", [])],
)
def test_tables_looked_up_in_both_orders_take_one_hop_where_spark_computes_between(
    spark: SparkSession, select: str, wanted: list[tuple[str, int]]
) -> None:
    tables = [
        {"name": "a", "sideInputs": [{"stream": "users"}]},
        {"name": "b", "sideInputs": [{"stream": "users"}]},
    ]
    program = program_of(
        spark,
        app(
            {"name": "a1", "joinTable": {"from": "views", "table": "a", "select": select}},
            {"name": "b1", "joinTable": {"from": "a1", "table": "b"}},
            {"name": "b2", "joinTable": {"from": "views", "table": "b", "select": select}},
            {"name": "a2", "joinTable": {"from": "b2", "table": "a"}},
            {"name": "o", "sendTo": {"from": "b1", "stream": "out"}},
            {"name": "o2", "sendTo": {"from": "a2", "stream": "out"}},
            tables=tables,
        ),
    )
    hops = [w for w in written(program) if w.role is StreamRole.HOP]
    assert [(hop.stream, hop.partitions) for hop in hops] == wanted
    assert layer_of(program, "a1") == layer_of(program, "a2")
    assert layer_of(program, "b1") == layer_of(program, "b2")


def test_a_write_back_to_a_table_without_sql_between_takes_no_hop(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "m", "joinTable": {"from": "views", "table": "t", "select": "user, page"}},
            {"name": "s", "sendToTable": {"from": "m", "table": "t"}},
            OUT,
            tables=[{"name": "t", "columns": "user STRING, page STRING"}],
        ),
    )
    assert not [w for w in written(program) if w.role is StreamRole.HOP]
    assert task(program, "s").operation == WriteTable("t", (0, 1))


def test_a_table_filled_from_itself_has_to_declare_its_columns(spark: SparkSession) -> None:
    problem = refusal(
        spark,
        {"name": "m", "joinTable": {"from": "views", "table": "t"}},
        {"name": "s", "sendToTable": {"from": "m", "table": "t"}},
        tables=[{"name": "t"}],
    )
    assert problem.startswith("spec.tables[0].columns: missing")


def test_an_aggregate_is_split_into_arguments_states_and_what_is_made_of_them(spark: SparkSession) -> None:
    aggregates = (
        "sum(n * 2) / count(*) AS mean, avg(n) AS a, max(ts) AS last, coalesce(min(n), 0) AS least, "
        "count(page) FILTER (WHERE (n) > 0) AS some, count(*) AS n"
    )
    program = program_of(
        spark, app({"name": "m", "aggregate": {"from": "views", "aggregates": aggregates}}, OUT)
    )
    totals = task(program, "m").operation
    assert isinstance(totals, Totals)
    assert sorted((p.function, p.type) for p in totals.partials) == [
        ("count", "BIGINT"),  # of all rows, needed twice and kept once
        ("count", "BIGINT"),
        ("count", "BIGINT"),
        ("max", "TIMESTAMP"),
        ("min", "INT"),
        ("sum", "BIGINT"),
        ("sum", "DOUBLE"),
    ]
    (edge,) = task(program, "o").sources
    assert [(c.name, c.type) for c in edge.columns] == [
        ("user", "STRING"),
        ("mean", "DOUBLE"),
        ("a", "DOUBLE"),
        ("last", "TIMESTAMP"),
        ("least", "INT"),
        ("some", "BIGINT"),
        ("n", "BIGINT"),
    ]
    assert not totals.composed


def test_an_aggregate_of_plain_columns_needs_no_sql(spark: SparkSession) -> None:
    body = {"from": "views", "key": "user, page", "aggregates": "count(*) AS n, max(ts) AS last"}
    body |= {"window": {"hopping": {"size": "1m", "advance": "10s"}}}
    program = program_of(spark, app({"name": "m", "aggregate": body}, OUT))
    assert len(program.layers) == 1
    totals = task(program, "m").operation
    assert isinstance(totals, Totals)
    assert (totals.key, totals.composed, totals.emit) == ((0, 1), True, "onWatermark")
    assert totals.chosen == (0, 1, 4, 5, 6, 7)


def test_a_join_keeps_the_key_once_and_names_both_sides(spark: SparkSession) -> None:
    everything = {"name": "m", "join": {"from": ["views", "users"], "within": "5s"}}
    program = program_of(spark, app(everything, OUT))
    (edge,) = task(program, "o").sources
    assert [c.name for c in edge.columns] == ["user", "page", "n", "ts", "country", "tier"]
    operation = task(program, "m").operation
    assert operation == JoinStreams("m", "inner", 5000, "event", (0, 1, 2, 3, 5, 6))
    assert [source.producer for source in task(program, "m").sources] == ["views", "users"]
    select = "left.user, initcap(right.country) AS s"
    chosen = {"name": "m", "join": {"from": ["views", "users"], "within": "5s", "select": select}}
    assert len(program_of(spark, app(chosen, OUT)).layers) == 3


def test_reads_say_how_records_become_rows(spark: SparkSession) -> None:
    streams = [
        {"name": "in", "topic": "the.topic", "key": "u", "columns": "u STRING, at TIMESTAMP"}
        | {"eventTime": {"column": "at"}},
        {"name": "out", "format": "string"},
    ]
    select = {"name": "m", "map": {"from": "in", "select": "initcap(u) AS u"}}
    read = task(program_of(spark, app(select, OUT, streams=streams)), "in").operation
    assert isinstance(read, Read)
    assert (read.topic, read.key, read.event_time, read.role) == ("the.topic", "u", "at", StreamRole.INPUT)


def written(program: Program) -> list[Write]:
    return [
        each.operation
        for layer in program.layers
        if isinstance(layer, PythonLayer)
        for each in layer.tasks
        if isinstance(each.operation, Write)
    ]
