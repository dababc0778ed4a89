"""What Spark and what a worker computes of expressions, as values that can be compared."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from streamapp_runtime.expressions.plain.plain_types import PlainValue
from streamapp_runtime.formats.arrow_types import arrow_type
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.oracles.value_rows import SCHEMA


def tried(frame: DataFrame, texts: list[str]) -> list[SparkColumn]:
    """Each expression, null in place of an array of its value on rows where it fails."""
    jvm: Any = frame.sparkSession.sparkContext._jvm
    sql, columns = jvm.org.apache.spark.sql, []
    for text in texts:
        value = sql.classic.ExpressionUtils.expression(F.array(F.expr(text))._jc)
        caught = sql.catalyst.expressions.TryEval(value)
        columns.append(SparkColumn(sql.classic.ExpressionUtils.column(caught)))
    return columns


@contextmanager
def without_shared_subexpressions(spark: SparkSession) -> Iterator[None]:
    """What expressions have in common is computed outside of `TryEval`, where a failure ends the job."""
    name = "spark.sql.subexpressionElimination.enabled"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "false")
    try:
        yield
    finally:
        spark.conf.set(name, before)


@contextmanager
def optimized_as_rows_of_a_batch(spark: SparkSession) -> Iterator[None]:
    """Rows that stand in a plan are computed before most rules of the optimizer have seen it."""
    setting = "spark.sql.optimizer.excludedRules"
    before = str(spark.conf.get(setting, ""))
    spark.conf.set(setting, f"{before},org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    try:
        yield
    finally:
        spark.conf.set(setting, before)


def comparable(kind: pa.DataType) -> pa.DataType:
    """The type that results are compared as: Python has fewer days and moments than Spark."""
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(kind) else kind


def columns_of(rows: Sequence[tuple[Any, ...]]) -> list[pa.Array]:
    """The columns of rows that have a value of each."""
    columns = zip(zip(*rows, strict=True), SCHEMA, strict=True)
    return [pa.array(values, field.type) for values, field in columns]


def table_of(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """The same as Spark takes them."""
    return pa.table(columns_of(rows), schema=SCHEMA)


def by_spark(spark: SparkSession, texts: list[str], rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    """For each expression what Spark gives for each row; the text "fails" where it fails."""
    frame = spark.createDataFrame(table_of(rows))
    with optimized_as_rows_of_a_batch(spark), without_shared_subexpressions(spark):
        results = frame.select(*(c.alias(f"c{n}") for n, c in enumerate(tried(frame, texts)))).toArrow()
    return [
        ["fails" if each is None else repr(each[0]) for each in column.cast(pa.list_(kind)).to_pylist()]
        for column in results.columns
        for kind in [comparable(column.type.value_type)]
    ]


def by_worker(plain: PlainValue, rows: list[tuple[Any, ...]]) -> list[Any]:
    values = RowValues(columns_of(rows), len(rows))
    column = values.column(plain.value, arrow_type(plain.type))
    results = column.cast(comparable(column.type)).to_pylist()
    return ["fails" if n in values.failures else repr(value) for n, value in enumerate(results)]
