"""Which conditions a Python worker judges, and that it then keeps the rows that Spark keeps."""

from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.plain.plain_value import plain_condition
from streamapp_runtime.operators.compilation.row_operations import FilterRows
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from streamapp_runtime.operators.tables.table_operations import LookUp
from tests.harness.engine.compiled_apps import app, evaluated_by_spark, program_of, task

COLUMNS = "page STRING, n INT, m BIGINT, s SMALLINT, said BOOLEAN, x DOUBLE, at TIMESTAMP, of STRUCT<n: INT>"
SCOPE = ColumnScope((ScopeSide("", parse_columns(COLUMNS)),))
JUDGED = [
    "page NOT LIKE '/health%'",
    "page LIKE '%a%'",
    "page LIKE '%a'",
    "page LIKE 'a'",
    "page LIKE '%'",
    "page LIKE ''",
    "NOT (page LIKE 'a%' AND n > 0)",
    "page = 'a' OR n IS NULL",
    "page <> 'a'",
    "page < 'b' AND page >= ''",
    "n > m",
    "n > 1.5",  # Spark itself makes whole numbers of it
    "1.5 < n",
    "n BETWEEN -1 AND m",
    "page LIKE 'a_b'",
    "page LIKE '%a%b'",
    "page LIKE 'a!%' ESCAPE '!'",
    "page = upper('a')",
    "x > 0.5 AND x IN (1, 2)",
    "n < x",
    "at IS NULL",
    "n <=> m",
    "n >= -1 AND n <= 1",
    "s = 1 OR s < n",
    "m IN (1, -1) AND n NOT IN (0, 1)",
    "page IN ('a', 'é')",
    "said",
    "NOT said OR said IS NOT NULL",
    "said = true",
    "startswith(page, 'a') OR endswith(page, 'b') OR contains(page, 'é')",
    "true",
    "page IS NULL",
    "length(page) > 1",
    "n + 1 > 0",
    "coalesce(said, true)",
]
NOT_JUDGED = [
    "at BETWEEN '2026-01-01' AND at",
    r"page LIKE 'a\%'",
    "page LIKE page",
    "page ILIKE 'a%'",
    "page RLIKE 'a'",
    "page = initcap('a')",
    "page = n",
    "at > '2026-01-01'",
    "of['n'] > 0",
    "n = NULL",
    "n IN (1, NULL)",
    "page COLLATE UTF8_LCASE = 'A'",
    "float(page) > 1",
    "`page` = 'a' -- so it is",
]
TEXTS = [None, "", "a", "ab", "ba", "/health/a", "é", "e\u0301", "a\nb", "A", "\U0001f600"]


@pytest.mark.parametrize("text", JUDGED)
def test_what_a_worker_judges_it_judges_as_spark_does(spark: SparkSession, text: str) -> None:
    predicate = plain_condition(text, SCOPE)
    assert predicate is not None
    rows: list[tuple[Any, ...]] = [
        (page, n, m, 1, said, 1.0, None, None)
        for page, (n, m), said in product(TEXTS, [(1, 0), (-1, 2), (None, 1), (0, None)], [True, False, None])
    ]
    frame = spark.createDataFrame(rows, COLUMNS)
    wanted = [found[0] is True for found in frame.selectExpr(text).collect()]
    types = [
        pa.string(),
        pa.int32(),
        pa.int64(),
        pa.int16(),
        pa.bool_(),
        pa.float64(),
        pa.timestamp("us", "UTC"),
    ]
    values = list(zip(*rows, strict=True))
    columns = [pa.array(values[place], kind) for place, kind in enumerate(types)]
    assert RowValues(columns, len(rows)).condition(predicate).to_pylist() == wanted


@pytest.mark.parametrize("text", NOT_JUDGED)
def test_what_may_mean_something_else_to_arrow_is_left_to_spark(text: str) -> None:
    assert plain_condition(text, SCOPE) is None


def test_a_join_behind_a_filter_that_a_worker_judges_never_hands_a_row_to_spark(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "f", "filter": {"from": "views", "where": "page NOT LIKE '/health%'"}},
            {"name": "g", "filter": {"from": "f", "where": "n > 0"}},
            {"name": "j", "joinTable": {"from": "g", "table": "users", "select": "user, page, country"}},
            {"name": "o", "sendTo": {"from": "j", "stream": "out"}},
            tables=[{"name": "users", "sideInputs": [{"stream": "users"}]}],
        ),
    )
    assert [type(each.operation) for each in program.tasks if each.name in "fgj"] == [
        FilterRows,
        FilterRows,
        LookUp,
    ]


def test_rows_are_dropped_before_spark_sees_them_but_not_fetched_back_to_be_dropped(
    spark: SparkSession,
) -> None:
    program = program_of(
        spark,
        app(
            {"name": "f", "filter": {"from": "views", "where": "n > 0"}},
            {"name": "m", "map": {"from": "f", "select": "initcap(user) AS user, n"}},
            {"name": "g", "filter": {"from": "m", "where": "n > 2"}},
            {"name": "h", "filter": {"from": "g", "where": "length(user) > 1"}},
            {"name": "o", "sendTo": {"from": "h", "stream": "out"}},
        ),
    )
    assert evaluated_by_spark(program)
    assert isinstance(task(program, "f").operation, FilterRows)
