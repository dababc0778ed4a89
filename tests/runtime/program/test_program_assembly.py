"""The operations that apps are compiled to."""

from pyspark.sql import SparkSession

from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.compilation.row_operations import EvaluateRows
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.operators.tables.table_operations import LookUp, WriteTable
from tests.harness.engine.compiled_apps import app, program_of, refusal, task

USERS = [{"name": "users", "sideInputs": [{"stream": "users"}]}]
OUT = {"name": "o", "sendTo": {"from": "m", "stream": "out"}}


def test_a_choice_of_columns_computes_nothing(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "c", "map": {"from": "views", "select": "page AS p, user"}},
            {"name": "m", "joinTable": {"from": "c", "table": "users", "select": "p, users.country, user"}},
            OUT,
            tables=USERS,
        ),
    )
    assert task(program, "m").operation == LookUp("users", False, None, (0, 3, 1))


def test_a_write_back_to_a_table_is_an_operation_on_the_rows(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "m", "joinTable": {"from": "views", "table": "t", "select": "user, page"}},
            {"name": "s", "sendToTable": {"from": "m", "table": "t"}},
            OUT,
            tables=[{"name": "t", "columns": "user STRING, page STRING"}],
        ),
    )
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


def test_an_aggregate_of_plain_columns_is_not_evaluated_by_spark(spark: SparkSession) -> None:
    body = {"from": "views", "key": "user, page", "aggregates": "count(*) AS n, max(ts) AS last"}
    body |= {"window": {"hopping": {"size": "1m", "advance": "10s"}}}
    program = program_of(spark, app({"name": "m", "aggregate": body}, OUT))
    assert not [each for each in program.tasks if isinstance(each.operation, EvaluateRows)]
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
    made = task(program_of(spark, app(chosen, OUT)), "m/select").operation
    assert isinstance(made, EvaluateRows)
    assert made.expressions and made.expressions.select == ("initcap(`the row`.c1)",)


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
