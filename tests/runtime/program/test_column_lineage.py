"""Which columns of the inputs each column of an output is made of, for whole apps."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamapp.graph.graph_builder import build_graph
from streamapp.plan.planner import plan
from streamapp.spec.parser import parse
from streamapp_runtime.expressions.column_uses import ColumnUse
from streamapp_runtime.program.column_lineage import MOST_ORIGINS, Origins, column_lineage
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import Program
from tests.harness.engine.compiled_apps import app, program_of

CODE = "tests.harness.user_code.operator_code"
PRICES = "tests.harness.user_code.remote_table_code:Prices"
EXAMPLES = Path(__file__).parents[3] / "examples"
EVENTS = {
    "name": "events",
    "key": "user",
    "columns": "user STRING, `page url` STRING, n INT, ts TIMESTAMP, s STRUCT<a: INT, b: INT>, xs ARRAY<INT>",
    "eventTime": {"column": "ts"},
}
VIEWS = {
    "name": "views",
    "key": "user",
    "columns": "user STRING, page STRING, n INT, ts TIMESTAMP",
    "eventTime": {"column": "ts"},
}
USERS = {"name": "users", "key": "user", "columns": "user STRING, country STRING, tier INT"}
OUT = {"name": "out"}

Lineage = tuple[dict[str, set[str]], set[str]]
"""Of each column of the only output, and of which rows there are: `stream.column: use`, and `by` whom."""


def texts(origins: Origins) -> set[str]:
    return {
        f"{origin.stream}.{origin.column}: {origin.use.value.lower()}"
        + (f" by {origin.python.rpartition(':')[2]}" if origin.python else "")
        for origin in origins
    }


def lineage_of(spark: SparkSession, *operators: dict[str, Any], sent: str, **more: Any) -> Lineage:
    streams = [EVENTS, VIEWS, USERS, more.pop("out", OUT)]
    steps = (*operators, {"name": "sent", "sendTo": {"from": sent, "stream": "out"}})
    (output,) = column_lineage(program_of(spark, app(*steps, streams=streams, **more)))
    assert output.stream == "out"
    return {name: texts(origins) for name, origins in output.columns.items()}, texts(output.rows)


def test_columns_are_followed_through_aliases_stars_quotes_and_fields_of_structs(spark: SparkSession) -> None:
    select = (
        "*, USER AS who, `PAGE URL` AS page, s.a AS a, upper(user) AS `Upper Name`, xs[0] + n AS sum, "
        "'fixed' AS fixed, current_timestamp() AS at, transform(xs, n -> n + 1) AS more"
    )
    columns, rows = lineage_of(spark, {"name": "m", "map": {"from": "events", "select": select}}, sent="m")
    assert columns == {
        "user": {"events.user: identity"},
        "page url": {"events.page url: identity"},
        "n": {"events.n: identity"},
        "ts": {"events.ts: identity"},
        "s": {"events.s: identity"},
        "xs": {"events.xs: identity"},
        "who": {"events.user: identity"},
        "page": {"events.page url: identity"},
        "a": {"events.s: transformation"},
        "Upper Name": {"events.user: transformation"},
        "sum": {"events.xs: transformation", "events.n: transformation"},
        "fixed": set(),
        "at": set(),
        "more": {"events.xs: transformation"},
    }
    assert rows == set()


def test_what_a_case_decides_by_is_told_from_what_it_gives(spark: SparkSession) -> None:
    select = (
        "CASE WHEN page = 'a' THEN n ELSE 0 END AS chosen, if(n > 0, n, length(user)) AS both, "
        "CASE user WHEN 'x' THEN 1 END AS matched"
    )
    columns, _ = lineage_of(spark, {"name": "m", "map": {"from": "views", "select": select}}, sent="m")
    assert columns == {
        "chosen": {"views.page: conditional", "views.n: transformation"},
        "both": {"views.n: conditional", "views.n: transformation", "views.user: transformation"},
        "matched": {"views.user: conditional"},
    }


def test_a_filter_is_about_rows_and_one_that_spark_alone_names_is_too(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {"name": "f", "filter": {"from": "views", "where": "page LIKE 'a%'"}},
        {"name": "m", "map": {"from": "f", "select": "user, n + 1"}},
        {"name": "g", "filter": {"from": "m", "where": "`(n + 1)` > 1"}},
        sent="g",
    )
    assert columns == {"user": {"views.user: identity"}, "(n + 1)": {"views.n: transformation"}}
    assert rows == {"views.page: filter", "views.n: filter"}


def test_a_generator_makes_its_values_and_says_how_often_a_row_is_there(spark: SparkSession) -> None:
    select = "user, posexplode(xs) AS (place, item)"
    columns, rows = lineage_of(
        spark, {"name": "m", "flatMap": {"from": "events", "select": select}}, sent="m"
    )
    assert columns == {
        "user": {"events.user: identity"},
        "place": {"events.xs: transformation"},
        "item": {"events.xs: transformation"},
    }
    assert rows == {"events.xs: filter"}


def test_totals_by_window_are_aggregations_and_a_count_of_rows_is_made_of_no_column(
    spark: SparkSession,
) -> None:
    aggregates = (
        "count(*) AS views, sum(n) / count(n) AS mean, max(page) FILTER (WHERE n > 1) AS last, "
        "avg(n + 1) AS a"
    )
    columns, rows = lineage_of(
        spark,
        {"name": "p", "partitionBy": {"from": "views", "key": "upper(page)"}},
        {
            "name": "c",
            "aggregate": {"from": "p", "window": {"tumbling": {"size": "1m"}}, "aggregates": aggregates},
        },
        sent="c",
    )
    assert columns == {
        "window_start": {"views.ts: transformation"},
        "window_end": {"views.ts: transformation"},
        "views": set(),
        "mean": {"views.n: aggregation"},
        "last": {"views.n: conditional", "views.page: aggregation"},
        "a": {"views.n: aggregation"},
    }
    assert rows == {"views.page: group_by", "views.ts: window"}


def test_groups_by_columns_keep_them(spark: SparkSession) -> None:
    key = "user, coalesce(page, '') AS page"
    columns, rows = lineage_of(
        spark,
        {"name": "c", "aggregate": {"from": "views", "key": key, "aggregates": "min(ts) AS first"}},
        sent="c",
    )
    assert columns == {
        "user": {"views.user: identity"},
        "page": {"views.page: transformation"},
        "first": {"views.ts: aggregation"},
    }
    assert rows == {"views.user: group_by", "views.page: group_by"}


def test_joined_streams_are_paired_by_key_and_time(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {
            "name": "j",
            "join": {
                "from": ["views", "events"],
                "within": "1m",
                "where": "left.n < right.n",
                "select": "left.user, page, left.n + right.n AS n",
            },
        },
        sent="j",
    )
    assert columns == {
        "user": {"views.user: identity"},
        "page": {"views.page: identity"},
        "n": {"views.n: transformation", "events.n: transformation"},
    }
    assert rows == {
        "views.user: join", "views.ts: join", "views.n: filter",
        "events.user: join", "events.ts: join", "events.n: filter",
    }  # fmt: skip


def test_a_full_join_has_its_key_from_either_side(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {
            "name": "j",
            "join": {"from": ["views", "users"], "within": "1m", "time": "arrival", "type": "full"},
        },
        sent="j",
    )
    assert columns["user"] == {"views.user: transformation", "users.user: transformation"}
    assert columns["tier"] == {"users.tier: identity"}
    assert rows == {"views.user: join", "users.user: join"}


def test_columns_of_a_table_are_those_of_the_streams_that_fill_it(spark: SparkSession) -> None:
    side = {"stream": "users", "key": "user", "value": "user, upper(country) AS land"}
    columns, rows = lineage_of(
        spark,
        {"name": "j", "joinTable": {"from": "views", "table": "lands", "select": "user, n, lands.land"}},
        sent="j",
        tables=[{"name": "lands", "sideInputs": [side]}],
    )
    assert columns == {
        "user": {"views.user: identity"},
        "n": {"views.n: identity"},
        "land": {"users.country: transformation"},
    }
    assert rows == {"views.user: join", "users.user: join"}


def test_a_table_that_operators_fill_hands_on_what_decided_about_its_rows(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {"name": "paying", "filter": {"from": "users", "where": "tier > 1"}},
        {
            "name": "kept",
            "sendToTable": {"from": "paying", "table": "known", "deleteWhere": "country = ''"},
        },
        {"name": "j", "joinTable": {"from": "views", "table": "known", "select": "page, country"}},
        sent="j",
        tables=[{"name": "known"}],
    )
    assert columns == {"page": {"views.page: identity"}, "country": {"users.country: identity"}}
    assert rows == {
        "users.tier: filter", "users.country: filter", "users.user: join", "views.user: join"
    }  # fmt: skip


def test_what_a_remote_table_answers_is_chosen_by_the_key(spark: SparkSession) -> None:
    table = {"name": "prices", "columns": "price DOUBLE, name STRING", "remote": {"python": PRICES}}
    select = "page, price * n AS cost"
    columns, rows = lineage_of(
        spark,
        {"name": "j", "joinTable": {"from": "views", "table": "prices", "key": "page", "select": select}},
        sent="j",
        tables=[table],
    )
    assert columns == {
        "page": {"views.page: identity"},
        "cost": {"views.page: join", "views.n: transformation"},
    }
    assert rows == {"views.page: join"}


def test_each_column_of_a_python_function_may_be_made_of_all_that_it_is_given(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {"name": "few", "map": {"from": "views", "select": "page, n"}},
        {
            "name": "m",
            "map": {"from": "few", "python": f"{CODE}:shouted", "columns": "page STRING, extra STRING"},
        },
        sent="m",
    )
    made = {"views.page: transformation by shouted", "views.n: transformation by shouted"}
    assert (columns, rows) == ({"page": made, "extra": made}, set())


def test_a_python_function_that_gives_any_number_of_rows_decides_about_them(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {"name": "few", "map": {"from": "views", "select": "page"}},
        {"name": "m", "flatMap": {"from": "few", "python": f"{CODE}:halved", "columns": "page STRING"}},
        sent="m",
    )
    assert columns == {"page": {"views.page: transformation by halved"}}
    assert rows == {"views.page: filter by halved"}


def test_a_class_sees_its_tables_and_fills_them(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {"name": "few", "map": {"from": "views", "select": "user, page"}},
        {"name": "fill", "sendToTable": {"from": "users", "table": "last"}},
        {
            "name": "p",
            "process": {
                "from": "few", "python": f"{CODE}:Visits", "columns": "visits BIGINT", "tables": ["last"]
            },
        },
        sent="p",
        tables=[{"name": "last"}],
    )  # fmt: skip
    seen = {"views.user", "views.page", "views.ts", "users.user", "users.country", "users.tier"}
    assert columns == {"visits": {f"{column}: transformation by Visits" for column in seen}}
    assert rows == {f"{column}: filter by Visits" for column in seen}


def test_several_operators_that_write_one_stream_are_told_together(spark: SparkSession) -> None:
    columns, rows = lineage_of(
        spark,
        {"name": "a", "map": {"from": "views", "select": "user, n"}},
        {"name": "a-sent", "sendTo": {"from": "a", "stream": "out"}},
        {"name": "b", "map": {"from": "users", "select": "tier AS n, user"}},
        {"name": "c", "filter": {"from": "b", "where": "n > 0"}},
        sent="c",
        out={"name": "out", "columns": "user STRING NOT NULL, n BIGINT"},
    )
    assert columns == {
        "user": {"views.user: identity", "users.user: identity"},
        "n": {"views.n: transformation", "users.tier: transformation"},  # they are cast
    }
    assert rows == {"users.tier: filter"}


def test_merged_rows_have_the_columns_of_all_whatever_their_order(spark: SparkSession) -> None:
    columns, _ = lineage_of(
        spark,
        {"name": "a", "map": {"from": "views", "select": "user, n"}},
        {"name": "b", "map": {"from": "users", "select": "tier AS n, user"}},
        {"name": "m", "merge": {"from": ["a", "b"]}},
        {"name": "all", "broadcast": {"from": "m"}},
        sent="all",
    )
    assert columns == {
        "user": {"views.user: identity", "users.user: identity"},
        "n": {"views.n: identity", "users.tier: identity"},
    }


def test_a_circle_through_a_table_is_walked_until_nothing_is_new(spark: SparkSession) -> None:
    (balances,) = parse((EXAMPLES / "table-cycle" / "app.yaml").read_text("utf-8")).apps
    (statements,) = column_lineage(program_of(spark, balances))
    assert {name: texts(origins) for name, origins in statements.columns.items()} == {
        "account": {"payments.account: identity"},
        "balance": {
            "payments.amount: transformation",
            "openings.balance: transformation",
        },
    }
    assert texts(statements.rows) == {"payments.account: join", "openings.account: join"}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/app.yaml")), ids=lambda path: path.parent.name)
def test_every_column_of_every_output_of_the_examples_is_told(
    spark: SparkSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(path.parent)  # where its Python is
    (example,) = parse(path.read_text("utf-8")).apps
    graph = build_graph(example, {stream.name: 8 for stream in example.spec.streams})
    program = compile_program(example, graph, plan(graph), spark.sparkContext)
    assert isinstance(program, Program)
    read_columns = {stream.name for stream in example.spec.streams}
    for output in column_lineage(program):
        assert output.columns
        origins = output.rows.union(*output.columns.values())
        assert {origin.stream for origin in origins} <= read_columns
        assert not any(origin.use.is_direct for origin in output.rows)


def test_more_origins_than_can_be_told_are_not_told(spark: SparkSession) -> None:
    width = int(MOST_ORIGINS**0.5) + 1
    wide = {"name": "views", "columns": ", ".join(f"c{n} INT" for n in range(width))}
    made = app(
        {"name": "m", "map": {"from": "views", "python": f"{CODE}:shouted", "columns": wide["columns"]}},
        {"name": "sent", "sendTo": {"from": "m", "stream": "out"}},
        streams=[wide, OUT],
    )
    assert column_lineage(program_of(spark, made)) == ()


def test_workers_get_nothing_of_it(spark: SparkSession) -> None:
    program = program_of(
        spark, app({"name": "sent", "sendTo": {"from": "views", "stream": "out"}}, streams=[VIEWS, OUT])
    )
    assert program.pieces and not program.for_workers.pieces
    assert len(pickle.dumps(program.for_workers)) < len(pickle.dumps(program))


def test_uses_follow_each_other() -> None:
    """What decides stays what decides, and of two direct uses the one that changes more is told."""
    assert ColumnUse.IDENTITY.then(ColumnUse.TRANSFORMATION) is ColumnUse.TRANSFORMATION
    assert ColumnUse.AGGREGATION.then(ColumnUse.TRANSFORMATION) is ColumnUse.AGGREGATION
    assert ColumnUse.CONDITIONAL.then(ColumnUse.AGGREGATION) is ColumnUse.CONDITIONAL
    assert ColumnUse.AGGREGATION.then(ColumnUse.FILTER) is ColumnUse.FILTER
    assert ColumnUse.CONDITIONAL.then(ColumnUse.JOIN) is ColumnUse.JOIN
