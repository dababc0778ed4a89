from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.harness.engine.compiled_apps import problems_of, refusal

OUT = {"name": "o", "sendTo": {"from": "m", "stream": "out"}}


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("usr = 'a'", 'no column "usr"; did you mean "user"?'),
        ("user.name = 'a'", "Spark says: "),
        ("n", "has to be BOOLEAN; found INT"),
        ("n >", "Spark says: Syntax error"),
        ("n > 0 AS x", "one expression, without an alias"),
        ("n > 0, n < 5", "one expression"),
        ("n > 0 FROM views", "more than expressions"),
        ("sum(n) > 1", "an aggregate function has no place here"),
        ("row_number() OVER (ORDER BY n) = 1", "a window function has no place here"),
        ("n IN (SELECT 1)", "a subquery cannot be asked for each row"),
        ("rand() > 0.5", "gives another answer each time"),
        ("uuid() = user", "gives another answer each time"),
        ("monotonically_increasing_id() > 5", "gives another answer each time"),
        ("input_file_name() = user", "gives another answer each time"),
        ("explode(array(true))", "use a flatMap"),
        ("user = CAST(array(1) AS INT)", "Spark says: Cannot resolve"),
        ("nothing_such(n)", "Spark says: Cannot resolve routine `nothing_such`"),
    ],
)
def test_a_condition_that_cannot_run_is_refused_with_its_path_and_reason(
    spark: SparkSession, where: str, why: str
) -> None:
    problem = refusal(spark, {"name": "m", "filter": {"from": "views", "where": where}}, OUT)
    assert problem.startswith("spec.operators[0].filter.where: ")
    assert why in problem
    assert "SQLSTATE" not in problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("select", "why"),
    [
        ("user, page AS USER", 'two columns are called "USER"'),
        ("null AS nothing", 'column "nothing" is always null and has no type'),
        ("* EXCEPT (n)", "name the columns"),
        ("views.*", 'no column "views.*"'),
        ("explode(array(n)) AS n", "use a flatMap"),
        ("DISTINCT n", "more than expressions"),
    ],
)
def test_a_select_list_that_cannot_run_is_refused(spark: SparkSession, select: str, why: str) -> None:
    problem = refusal(spark, {"name": "m", "map": {"from": "views", "select": select}}, OUT)
    assert problem.startswith("spec.operators[0].map.select: ")
    assert why in problem


@pytest.mark.parametrize("select", ["user", "explode(array(n)), explode(array(n))", "explode(array(n)) + 1"])
def test_a_flat_map_has_one_generator_as_an_entry_of_its_own(spark: SparkSession, select: str) -> None:
    problem = refusal(spark, {"name": "m", "flatMap": {"from": "views", "select": select}}, OUT)
    assert problem.startswith("spec.operators[0].flatMap.select: has ")


def test_all_problems_are_told_at_once_and_what_follows_from_them_is_not(spark: SparkSession) -> None:
    found = problems_of(
        spark,
        {"name": "m", "filter": {"from": "views", "where": "a"}},
        {"name": "m2", "filter": {"from": "m", "where": "b"}},
        {"name": "m3", "map": {"from": "views", "select": "user", "key": "c"}},
        {"name": "o", "sendTo": {"from": "m2", "stream": "out"}},
    )
    assert [problem.partition(": ")[0] for problem in found] == [
        "spec.operators[0].filter.where",
        "spec.operators[2].map.key",
    ]


def test_a_stream_that_is_read_needs_columns_unless_its_format_says_them(spark: SparkSession) -> None:
    streams: list[dict[str, Any]] = [{"name": "in", "format": "json"}, {"name": "out"}]
    sent = {"name": "o", "sendTo": {"from": "in", "stream": "out"}}
    assert refusal(spark, sent, streams=streams).startswith("spec.streams[0].columns: missing")


def test_rows_sent_have_the_columns_that_an_output_declares(spark: SparkSession) -> None:
    for columns, why in (
        ("user STRING, total INT", 'a column "total", and the rows sent do not'),
        ("user STRING", 'the rows sent have a column "n"'),
        ("user STRING, n ARRAY<INT>", "no cast leads there"),
    ):
        streams: list[dict[str, Any]] = [
            {"name": "in", "columns": "user STRING, n INT"},
            {"name": "out", "columns": columns},
        ]
        problem = refusal(spark, {"name": "o", "sendTo": {"from": "in", "stream": "out"}}, streams=streams)
        assert problem.startswith("spec.operators[0].sendTo.stream: ")
        assert why in problem


def test_sources_that_merge_have_the_same_columns(spark: SparkSession) -> None:
    merged = {"name": "m", "merge": {"from": ["views", "users"]}}
    assert "the sources have different columns" in refusal(spark, merged, OUT)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"aggregates": "count(DISTINCT page) AS n"}, "would have to keep every value"),
        ({"aggregates": "first(page) AS p"}, "allowed are count, sum, min, max, avg"),
        ({"aggregates": "collect_list(page) AS p"}, "allowed are count, sum, min, max, avg"),
        ({"aggregates": "sum(array(n)) AS p"}, "Spark says"),
        ({"aggregates": "page, count(*) AS n"}, 'Spark says: The non-aggregating expression "page"'),
        ({"aggregates": "count(*) AS n", "key": "page"}, "put a partitionBy before it"),
    ],
)
def test_an_aggregate_that_cannot_be_kept_is_refused(
    spark: SparkSession, body: dict[str, Any], why: str
) -> None:
    problem = refusal(spark, {"name": "m", "aggregate": {"from": "views", **body}}, OUT)
    field = "key" if "key" in body else "aggregates"
    assert problem.startswith(f"spec.operators[0].aggregate.{field}: ")
    assert why in problem


def test_state_by_a_key_that_was_changed_without_a_repartition_is_refused(spark: SparkSession) -> None:
    changed = {"name": "c", "map": {"from": "views", "select": "user, page", "key": "page"}}
    problem = refusal(
        spark, changed, {"name": "m", "aggregate": {"from": "c", "aggregates": "count(*) AS n"}}, OUT
    )
    assert "the key was changed without a repartition" in problem
