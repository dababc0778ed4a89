"""What expressions make of rows that pass through a program, against the same expressions in Spark alone."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.template import RECORD_KEY, Template, column_template
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.operators.compilation.evaluated_rows import evaluated_rows
from streamapp_runtime.operators.compilation.piece import SqlPart
from streamapp_runtime.operators.stateless.evaluated_rows_executor import EvaluatedRowsExecutor
from tests.harness.engine.compiled_apps import (
    Row,
    app,
    lane_state,
    program_of,
    run,
    run_with_failures,
    slice_of,
)
from tests.harness.machine.random_cases import share

VIEWS: list[Row] = [
    {"user": "ann", "page": "/a", "n": 1, "ts": datetime(2026, 1, 1)},  # noqa: DTZ001  # as Spark gives them
    {"user": "bob", "page": "/health", "n": -2, "ts": None},
    {"user": None, "page": None, "n": None, "ts": None},
    {"user": "", "page": "x\ny", "n": 7, "ts": datetime(2025, 12, 31, 23, 59)},  # noqa: DTZ001
]
USERS: list[Row] = [
    {"user": "ann", "country": "nl", "tier": 1},
    {"user": "eve", "country": None, "tier": None},
]
VIEW_COLUMNS = "user STRING, page STRING, n INT, ts TIMESTAMP"


def sent(spark: SparkSession, *operators: dict[str, Any], views: list[Row] | None = None) -> list[Row]:
    """What the operators send from `views`, which the last of them makes, to `out`."""
    last = operators[-1]["name"]
    program = program_of(spark, app(*operators, {"name": "o", "sendTo": {"from": last, "stream": "out"}}))
    return run(spark, program, {"views": VIEWS if views is None else views})["o"]


def plain(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name not in {"k", "t", "z"}} for row in rows]


def test_a_filter_keeps_rows_for_which_it_is_true_and_all_tombstones(spark: SparkSession) -> None:
    views = [*VIEWS, {"k": b"gone", "z": True}]
    rows = sent(spark, {"name": "f", "filter": {"from": "views", "where": "n > 0"}}, views=views)
    assert [(row["user"], row["z"]) for row in rows] == [("ann", False), ("", False), (None, True)]
    assert rows[-1]["k"] == b"gone"


def test_a_map_of_a_tombstone_is_a_tombstone_with_its_key_and_no_values(spark: SparkSession) -> None:
    rows = sent(
        spark,
        {"name": "m", "map": {"from": "views", "select": "user, 'x' AS lit, coalesce(n, 0) AS n"}},
        views=[{"k": b"gone", "z": True}],
    )
    assert rows == [{"k": b"gone", "t": 0, "z": True, "user": None, "lit": None, "n": None}]


def test_a_bad_cast_for_one_stream_is_never_evaluated_for_rows_of_another(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "m", "map": {"from": "views", "select": "int(page) AS p"}},
            {"name": "u", "filter": {"from": "users", "where": "length(country) = 2"}},
            {"name": "o", "sendTo": {"from": "m", "stream": "out"}},
            {"name": "o2", "sendTo": {"from": "u", "stream": "out"}},
        ),
    )
    written = run(spark, program, {"views": [{"page": "12"}], "users": USERS})
    assert plain(written["o"]) == [{"p": 12}]
    assert plain(written["o2"]) == [USERS[0]]


def test_a_new_key_is_the_text_of_its_expression_over_what_the_map_returns(spark: SparkSession) -> None:
    rows = sent(
        spark, {"name": "m", "map": {"from": "views", "select": "n * 2 AS twice", "key": "twice + 1"}}
    )
    assert [row["k"] for row in rows] == [b"3", b"-3", None, b"15"]


def test_a_repartition_by_the_key_that_rows_have_keeps_the_keys_of_tombstones(spark: SparkSession) -> None:
    for key, kept in (("user", b"gone"), ("page", None)):
        program = program_of(spark, app({"name": "p", "partitionBy": {"from": "views", "key": key}}))
        views = [{"k": b"old", "user": "ann", "page": "/a"}, {"k": b"gone", "z": True}]
        rows = run(spark, program, {"views": views, "test.app.p": []})["p/write"]
        assert [row["k"] for row in rows] == [views[0][key].encode(), kept]


FAILING: list[dict[str, Any]] = [
    {"name": "some", "filter": {"from": "views", "where": "float(page) > 0"}},
    {"name": "made", "map": {"from": "some", "select": "user, page, 10 / n AS a, 10 / n + 1 AS b"}},
    {
        "name": "many",
        "flatMap": {"from": "made", "select": "user, a, posexplode(sequence(1, 3 - int(user), 1))"},
    },
]
FAILING_VALUES = [
    ("1", "7", 2),
    ("1", "x", 2),  # fails in the filter
    ("1", "0", 0),  # is left out before it could fail
    ("2", "5", 0),  # fails in the map, in two expressions that have something in common
    ("9", "5", 1),  # fails in the generator
    ("x", "5", 1),  # the same, by a cast
    (None, "5", None),
    (None, None, None),
]


def test_rows_that_fail_are_named_with_sparks_words_and_the_others_come_out(spark: SparkSession) -> None:
    program = program_of(spark, app(*FAILING, {"name": "o", "sendTo": {"from": "many", "stream": "out"}}))
    views = [dict(zip(("user", "page", "n"), values, strict=True)) for values in FAILING_VALUES]
    views.append({"k": b"gone", "z": True})
    written, failures = run_with_failures(spark, program, {"views": views})
    malformed = "Spark says: The value 'x' of the type \"STRING\" cannot be cast to"
    assert list(failures) == [1, 3, 4, 5]
    assert failures[1].startswith(f'{malformed} "FLOAT"')
    assert failures[3].startswith("Spark says: Division by zero")
    assert "sequence boundaries" in failures[4]
    assert failures[5].startswith(f'{malformed} "INT"')
    assert [(row["user"], row["pos"], row["col"], row["z"]) for row in written["o"]] == [
        ("1", 0, 1, False),
        ("1", 1, 2, False),
        (None, None, None, True),
    ]


def test_a_tombstone_whose_key_cannot_be_made_is_a_failed_row(spark: SparkSession) -> None:
    key = Template((f"10 / int(CAST({RECORD_KEY} AS STRING))",))
    part = SqlPart((column_template(0),), key=Template(("10 / int(", 0, ")")), key_of_tombstone=key)
    users = (Column("user", "STRING"),)
    rows = slice_of([{"k": b"5", "z": True}, {"k": b"0", "z": True}, {"user": "2"}], users)
    with lane_state(spark) as state:
        made = EvaluatedRowsExecutor(evaluated_rows(part, users), arrow_schema(users)).execute((rows,), state)
    assert made is not None
    assert made.key.to_pylist() == [b"2.0", None, b"5.0"]
    assert [(row.offset, row.reason.split(".")[0]) for row in state.failed] == [
        (1, "Spark says: Division by zero")
    ]


@pytest.mark.parametrize("text", ["1 / 0", "'a'::INT", "CAST('x' AS DATE)", "assert_true(1 > 2)"])
def test_a_constant_that_fails_does_so_for_each_row_that_comes_to_it(spark: SparkSession, text: str) -> None:
    select = f"CASE WHEN n > 0 THEN user END AS user, concat({text}, page) AS word"
    program = program_of(
        spark,
        app(
            {"name": "f", "filter": {"from": "views", "where": "initcap(user) = 'Bob'"}},
            {"name": "m", "map": {"from": "f", "select": select}},
            {"name": "o", "sendTo": {"from": "m", "stream": "out"}},
        ),
    )
    written, failures = run_with_failures(spark, program, {"views": VIEWS})
    assert not written["o"]
    assert list(failures) == [1]


def test_too_long_a_text_fails_its_row_and_no_other(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {
                "name": "m",
                "map": {"from": "views", "select": "lpad(user, 1073741824 * greatest(n, 0), 'ab') AS long"},
            },
            {"name": "o", "sendTo": {"from": "m", "stream": "out"}},
        ),
    )
    written, failures = run_with_failures(spark, program, {"views": VIEWS[:3]})
    assert list(failures) == [0]
    assert plain(written["o"]) == [{"long": ""}, {"long": None}]


def test_current_timestamp_is_the_time_of_the_batch(spark: SparkSession) -> None:
    now = datetime(2026, 2, 3, 4, 5, 6)  # noqa: DTZ001
    clocks = ["current_timestamp()", "now()", "current_timestamp", "current_date()", "unix_timestamp()"]
    select = ", ".join(f"{clock} AS {name}" for clock, name in zip(clocks, "abcde", strict=True))
    rows = sent(spark, {"name": "m", "map": {"from": "views", "select": select}}, views=[{"now": now}])
    (row,) = plain(rows)
    assert {row["a"], row["b"], row["c"]} == {now}
    assert row["d"] == now.date()
    assert isinstance(row["e"], int)


@pytest.mark.parametrize(
    "select",
    [
        "user, explode(split(page, '/')) AS part",
        "explode_outer(split(page, 'a')) part, n",
        "posexplode(array(n, n + 1)), user",
        "posexplode_outer(filter(array(n), x -> x > 0)) AS (place, item)",
        "explode(map('a', n, 'b', 2)) AS (name, value)",
        "posexplode(map('a', n))",
        "inline(array(struct(n AS first, page AS `second one`))), user AS who",
        "inline_outer(filter(array(named_struct('a', n, 'b', user)), e -> e.a > 0)) AS (x, y)",
    ],
)
def test_generators_give_the_rows_that_spark_gives_for_the_stream_alone(
    spark: SparkSession, select: str
) -> None:
    rows = sent(spark, {"name": "f", "flatMap": {"from": "views", "select": select}})
    assert plain(rows) == alone(spark, select)


@pytest.mark.parametrize(
    "select",
    [
        "*",
        "*, n AS m",
        "user AS `select`, page AS `a-b`, n AS `x``y`, ts AS `Case`",
        "transform(array(n, 1), page -> page + n) AS items",
        "transform(array(1), s0 -> s0 + n) AS items, aggregate(array(n), 0, (acc, x) -> acc + x) AS a",
        "named_struct('n', 5, 'user', n).n AS field, n AS own",
        "date_trunc('MONTH', ts) AS month, extract(DAY FROM ts) AS day, ts + make_dt_interval(1) AS next",
        "CAST(n AS STRING) string, n::BIGINT AS long, try_cast(page AS INT) AS i",
        "CASE n WHEN 1 THEN 'one' ELSE page END AS word, (page) NOT LIKE '/h%' AS other",
        "USER AS u, `PAGE` AS p",
        "array(n, 2)[0] AS first, map('a', n)['a'] AS value",
        "n -- what it was\n , page /* and, this */ AS p -- end",
        "'it''s, (n' AS text, r'\\d' AS raw, \"user\" AS quoted",
        "n + 1, n IS NULL, n IN (1, 2), n BETWEEN 0 AND 5",
        "cast(struct(n, user) AS STRUCT<n: BIGINT, user: STRING>).user AS inner",
    ],
)
def test_select_lists_give_what_spark_gives_for_the_stream_alone(spark: SparkSession, select: str) -> None:
    rows = sent(spark, {"name": "m", "map": {"from": "views", "select": select}})
    assert plain(rows) == alone(spark, select)


def test_merged_rows_keep_their_columns_whatever_their_order(spark: SparkSession) -> None:
    rows = sent(
        spark,
        {"name": "a", "map": {"from": "views", "select": "user, page, n"}},
        {"name": "b", "map": {"from": "views", "select": "n, upper(page) AS page, user"}},
        {"name": "m", "merge": {"from": ["a", "b", "a"]}},
    )
    first = [(row["user"], row["page"], row["n"]) for row in VIEWS]
    upper = [(user, page and page.upper(), n) for user, page, n in first]
    found = [(row["user"], row["page"], row["n"]) for row in rows]
    assert sorted(map(str, found)) == sorted(map(str, [*first, *upper, *first]))


def test_columns_may_be_called_like_words_of_the_language(spark: SparkSession) -> None:
    declared = (
        "`select` INT, `order by` STRING, `a-b` STRING, `Tag` INT, `s0` STRING, `in``s` STRING, interval INT"
    )
    program = program_of(
        spark,
        app(
            {
                "name": "f",
                "filter": {"from": "in", "where": "`select` > 0 AND tag = 5 AND `order by` <> 's0'"},
            },
            {
                "name": "m",
                "map": {"from": "f", "select": "*, concat(`a-b`, S0, `in``s`) AS `from`, interval + 1 AS i"},
            },
            {"name": "o", "sendTo": {"from": "m", "stream": "out"}},
            streams=[
                {"name": "in", "columns": declared},
                {
                    "name": "out",
                    "columns": declared.replace("`select` INT", "`select` BIGINT") + ", `from` STRING, i INT",
                },
            ],
        ),
    )
    row = {"select": 1, "order by": "x", "a-b": "a", "Tag": 5, "s0": "b", "in`s": "c", "interval": 6}
    written = run(spark, program, {"in": [row, row | {"Tag": 4}]})
    assert plain(written["o"]) == [row | {"from": "abc", "i": 7}]


def alone(spark: SparkSession, select: str) -> list[Row]:
    rows = [tuple(row.values()) for row in VIEWS]
    spark.createDataFrame(rows, VIEW_COLUMNS).createOrReplaceTempView("views")
    return [row.asDict() for row in spark.sql("SELECT " + select + "\nFROM views").collect()]


FILTERS = ["n > 0", "user LIKE 'a%'", "page IS NOT NULL", "coalesce(n, 0) % 2 = 0"]
MAPS = [
    "*",
    "page, user, n, ts",
    "concat(user, page) AS user, page, n + 1 AS n, ts",
    "coalesce(page, 'none') AS page, user, n * 2 AS n, current_date() > DATE'2020-01-01' AS b, ts",
    "upper(user) AS user, user AS page, length(page) AS n, ts",
]
FLAT_MAPS = ["user, page, explode(array(n, 0)) AS n, ts", "explode(split(page, '')) AS page, user, n, ts"]


@st.composite
def chains(draw: st.DrawFn) -> list[dict[str, Any]]:
    operators: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 6))):
        source = draw(st.sampled_from(["views", *(operator["name"] for operator in operators)]))
        kind, field, texts = draw(
            st.sampled_from(
                [("filter", "where", FILTERS), ("map", "select", MAPS), ("flatMap", "select", FLAT_MAPS)]
            )
        )
        operators.append({"name": f"o{number}", kind: {"from": source, field: draw(st.sampled_from(texts))}})
    return operators


@settings(
    max_examples=share(0.04), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(operators=chains())
def test_a_graph_of_filters_maps_and_branches_gives_what_each_gives_alone(
    spark: SparkSession, operators: list[dict[str, Any]]
) -> None:
    names = [operator["name"] for operator in operators]
    sinks = [{"name": f"out-{name}", "sendTo": {"from": name, "stream": "out"}} for name in names]
    program = program_of(spark, app(*operators, *sinks))
    now = datetime(2026, 1, 1)  # noqa: DTZ001
    written = run(spark, program, {"views": [row | {"now": now} for row in VIEWS]})
    rows = [tuple(row.values()) for row in VIEWS]
    spark.createDataFrame(rows, VIEW_COLUMNS).createOrReplaceTempView("views")
    for operator in operators:
        kind = next(kind for kind in ("filter", "map", "flatMap") if kind in operator)
        body = operator[kind]
        frame = spark.table(body["from"])
        if kind == "filter":
            frame = frame.where(body["where"])
        else:
            frame.createOrReplaceTempView("source")
            frame = spark.sql("\n".join(["SELECT", body["select"], "FROM source"]))
        frame.createOrReplaceTempView(operator["name"])
    for name in names:
        expected = [row.asDict() for row in spark.table(name).collect()]
        assert sorted(map(str, plain(written[f"out-{name}"]))) == sorted(map(str, expected))
