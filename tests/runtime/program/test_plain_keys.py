"""Keys that a Python worker makes of a column have the bytes that Spark would give them."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.row_value import ColumnValue, Comparison, Constant
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.operators.compilation.key_change import key_value
from streamapp_runtime.operators.compilation.piece import ARROW_KEY_TYPES
from streamapp_runtime.operators.compilation.row_operations import ComputeColumns, KeyRows
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.row_executors import (
    ComputeColumnsExecutor,
    KeyRowsExecutor,
    key_bytes,
)
from streamapp_runtime.operators.stateless.text_functions import text_of_times
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.engine.compiled_apps import app, evaluated_by_spark, program_of, task
from tests.harness.engine.plain_rows import Row, rows_of, slice_of

VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "STRING": (pa.string(), st.text(max_size=8)),
    "BINARY": (pa.binary(), st.binary(max_size=8)),
    "TINYINT": (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    "SMALLINT": (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "INT": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "BIGINT": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "BOOLEAN": (pa.bool_(), st.booleans()),
}
TABLE = st.fixed_dictionaries(
    {name: st.lists(st.none() | values, min_size=20, max_size=20) for name, (_, values) in VALUES.items()}
)
NOTHING = LaneState(lambda task, name: (_ for _ in ()).throw(AssertionError(name)), {}, tasks=1, time_ms=0)
OUT = {"name": "sent", "sendTo": {"from": "by", "stream": "out"}}


def test_every_plain_type_is_held_against_spark() -> None:
    assert VALUES.keys() == ARROW_KEY_TYPES


@given(TABLE)
@settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_bytes_are_those_of_spark(spark: SparkSession, table: dict[str, list[Any]]) -> None:
    arrays = {name: pa.array(values, VALUES[name][0]) for name, values in table.items()}
    casts = [f"CAST(CAST(`{name}` AS STRING) AS BINARY) AS `{name}`" for name in arrays]
    of_spark = spark.createDataFrame(pa.table(arrays)).selectExpr(*casts).toArrow()
    for name, array in arrays.items():
        assert key_bytes(array).to_pylist() == of_spark[name].to_pylist(), name


@example(numbers=[-(2**63), 2**63 - 1, -62_167_219_200_000_001, 253_402_300_800_000_000, 1_500_000, None])
@given(numbers=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=20, max_size=20))
@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_text_of_a_time_is_that_of_spark(spark: SparkSession, numbers: list[int | None]) -> None:
    days = pa.array([None if number is None else number >> 32 for number in numbers], pa.int32())
    moments = pa.array(numbers, pa.int64())
    texts = ["date_from_unix_date(day)", "timestamp_micros(n)", "CAST(timestamp_micros(n) AS TIMESTAMP_NTZ)"]
    casts = [f"CAST({text} AS STRING) AS `{number}`" for number, text in enumerate(texts)]
    of_spark = spark.createDataFrame(pa.table({"day": days, "n": moments})).selectExpr(*casts).toArrow()
    kinds = [pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us")]
    for number, (column, kind) in enumerate(zip((days, moments, moments), kinds, strict=True)):
        assert text_of_times(column.cast(kind)).to_pylist() == of_spark[str(number)].to_pylist()


@pytest.mark.parametrize("tombstones_keep_key", [True, False])
def test_a_tombstone_has_the_key_of_its_record_or_none(tombstones_keep_key: bool) -> None:
    schema = pa.schema([("user", pa.string()), ("n", pa.int32())])
    rows = [Row(key=b"k", columns=("ann", 1)), Row(key=b"gone"), Row(key=b"l", columns=(None, 2))]
    keyed = KeyRowsExecutor(KeyRows((1,), 0, tombstones_keep_key)).execute((slice_of(rows, schema),), NOTHING)
    assert rows_of(keyed) == [
        Row(key=b"ann", columns=(1,)),
        Row(key=b"gone" if tombstones_keep_key else None),
        Row(key=None, columns=(2,)),
    ]


def test_an_app_that_computes_nothing_but_plain_keys_is_not_evaluated_by_spark(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {"name": "by", "partitionBy": {"from": "views", "key": "page"}},
            OUT,
            streams=[
                {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT"},
                {"name": "out", "key": "n"},
            ],
        ),
    )
    assert isinstance(task(program, "by/key").operation, KeyRows)
    assert isinstance(task(program, "sent/row").operation, KeyRows)


COMPUTED_KEYS = [
    *("of.city", "upper(page)", "page || '/' || n", "CAST(n AS BIGINT) + 1", "n % 4", "ok", "tags[0]"),
    *("at", "coalesce(of.city, page)", "raw", "n > 1", "'a'"),
]
COLUMNS = (
    "page STRING, n INT, ok BOOLEAN, at TIMESTAMP, raw BINARY, tags ARRAY<STRING>, of STRUCT<city: STRING>"
)
CITIES = {"name": "cities", "columns": "name STRING", "broadcast": True}


@pytest.mark.parametrize("key", COMPUTED_KEYS)
def test_computed_keys_need_no_spark(spark: SparkSession, key: str) -> None:
    for operator in (
        {"partitionBy": {"from": "views", "key": key}},
        {"map": {"from": "views", "key": key, "select": "*"}},
        {"joinTable": {"from": "views", "key": key, "table": "cities", "type": "left"}},
    ):
        program = program_of(
            spark,
            app(
                {"name": "by", **operator},
                OUT,
                streams=[
                    {"name": "views", "columns": COLUMNS},
                    {"name": "cities", "key": "name", "columns": "name STRING"},
                    {"name": "out"},
                ],
                tables=[{**CITIES, "sideInputs": [{"stream": "cities"}]}],
            ),
        )
        assert not evaluated_by_spark(program)


def test_rows_that_delete_their_keys_are_tombstones_without_spark() -> None:
    deleting = ComputeColumns((ColumnValue(0),), delete=Comparison("=", ColumnValue(1), Constant(0)))
    schema = pa.schema([("user", pa.string()), ("n", pa.int32())])
    rows = [Row(key=b"a", columns=("ann", 1)), Row(key=b"b", columns=("bob", 0)), Row(key=b"gone")]
    rows.append(Row(key=b"c", columns=("cyd", None)))
    made = ComputeColumnsExecutor(deleting, schema.remove(1)).execute((slice_of(rows, schema),), NOTHING)
    kept = [Row(key=b"a", columns=("ann",)), Row(key=b"b"), Row(key=b"gone"), Row(key=b"c", columns=("cyd",))]
    assert rows_of(made) == kept


def test_tables_that_are_written_and_filled_by_expressions_need_no_spark(spark: SparkSession) -> None:
    program = program_of(
        spark,
        app(
            {
                "name": "noted",
                "sendToTable": {
                    "from": "views",
                    "table": "last",
                    "deleteWhere": "n % 2 = 0 AND ok",
                },
            },
            {"name": "by", "joinTable": {"from": "views", "key": "upper(page)", "table": "cities"}},
            OUT,
            streams=[
                {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT, ok BOOLEAN"},
                {"name": "cities", "columns": "of STRUCT<name: STRING, size: BIGINT>"},
                {"name": "out"},
            ],
            tables=[
                {"name": "last", "columns": "user STRING, page STRING, n INT, ok BOOLEAN"},
                {
                    **CITIES,
                    "sideInputs": [{"stream": "cities", "key": "of.name", "value": "lower(of.name) AS name"}],
                },
            ],
        ),
    )
    assert not evaluated_by_spark(program)


def test_a_join_with_a_condition_on_both_sides_needs_no_spark(spark: SparkSession) -> None:
    join = {
        "from": ["views", "users"],
        "within": "1h",
        "where": "left.n > right.tier AND left.page <> 'a'",
        "select": "left.user, upper(right.country) AS country",
    }
    program = program_of(spark, app({"name": "by", "join": join}, OUT))
    assert not evaluated_by_spark(program)


@pytest.mark.parametrize(
    ("key", "operation"), [("n", KeyRows), ("CAST(n AS STRING)", ComputeColumns), ("at", ComputeColumns)]
)
def test_a_key_is_taken_from_a_column_where_arrow_writes_its_text_as_spark_does(
    spark: SparkSession, key: str, operation: type
) -> None:
    views = {"name": "views", "columns": COLUMNS}
    by = {"name": "by", "partitionBy": {"from": "views", "key": key}}
    program = program_of(spark, app(by, OUT, streams=[views, {"name": "out"}]))
    assert isinstance(task(program, "by/key").operation, operation)


def test_computed_keys_have_the_bytes_of_spark(spark: SparkSession) -> None:
    moment = dt.datetime(2026, 2, 28, 12, 30, 0, 500_000, tzinfo=dt.UTC)
    rows = [
        ("a", 1, True, moment, b"\xff", ["x"], {"city": "Bern"}),
        (None, None, None, None, None, ["", None], {"city": None}),
        ("é/", -(2**31), False, moment.replace(microsecond=0), b"", [None], None),
        ("", 7, None, dt.datetime(1969, 12, 31, tzinfo=dt.UTC), b"a", ["\U0001f600"], {"city": ""}),
    ]
    columns = canonical(parse_columns(COLUMNS))
    schema, scope = arrow_schema(columns), ColumnScope((ScopeSide("", columns),))
    arrays = [pa.array(v, f.type) for v, f in zip(zip(*rows, strict=True), schema, strict=True)]
    frame = spark.createDataFrame(pa.table(arrays, schema=schema))
    for key in COMPUTED_KEYS:
        value = key_value(*expression(spark.sparkContext, key, scope))
        assert value is not None, key
        made = RowValues(arrays, len(rows)).column(value, pa.binary())
        (of_spark,) = frame.selectExpr(f"CAST(CAST({key} AS STRING) AS BINARY)").toArrow().columns
        assert made.to_pylist() == of_spark.to_pylist(), key


@pytest.mark.parametrize("key", ["initcap(page)", "price", "x", "n + 1 + 2"])
def test_other_keys_are_left_to_spark(spark: SparkSession, key: str) -> None:
    program = program_of(
        spark,
        app(
            {"name": "by", "partitionBy": {"from": "views", "key": key}},
            OUT,
            streams=[
                {
                    "name": "views",
                    "columns": "page STRING, n INT, price DECIMAL(9, 2), x DOUBLE",
                },
                {"name": "out"},
            ],
        ),
    )
    assert evaluated_by_spark(program) == ["by/key"]
