"""Keys that a Python worker makes of a column have the bytes that Spark would give them."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamapp_runtime.operators.compilation.key_change import PLAIN_KEY_TYPES
from streamapp_runtime.operators.compilation.row_operations import KeyRows
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.row_executors import KeyRowsExecutor, key_bytes
from streamapp_runtime.program.program import PythonLayer
from tests.harness.engine.compiled_apps import app, program_of, task
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
    assert VALUES.keys() == PLAIN_KEY_TYPES


@given(TABLE)
@settings(
    max_examples=25,
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


def test_an_app_that_computes_nothing_but_plain_keys_is_all_python(spark: SparkSession) -> None:
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
    assert program.is_all_python
    (layer,) = program.layers
    assert isinstance(layer, PythonLayer)
    assert isinstance(task(program, "by/key").operation, KeyRows)
    assert isinstance(task(program, "sent/row").operation, KeyRows)


@pytest.mark.parametrize("key", ["initcap(page)", "price", "at", "CAST(n AS BIGINT)"])
def test_other_keys_are_left_to_spark(spark: SparkSession, key: str) -> None:
    program = program_of(
        spark,
        app(
            {"name": "by", "partitionBy": {"from": "views", "key": key}},
            OUT,
            streams=[
                {
                    "name": "views",
                    "columns": "page STRING, n INT, price DECIMAL(9, 2), at TIMESTAMP",
                },
                {"name": "out"},
            ],
        ),
    )
    assert program.computed_by_spark == ("by/key",)
