"""Reads and evaluates expressions once, so that a JVM that writes down its classes has those of Spark's SQL.

python -m streamapp_runtime.driver.spark.sql_class_recording ROLE
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from streamapp_runtime.driver.spark.class_archive import JvmRole
from streamapp_runtime.driver.spark.expression_jvm import open_expression_jvm
from streamapp_runtime.driver.spark.jvm import end_jvm
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.expressions.expression_client import ExpressionClient, SparkExpressions, worker_folder
from streamapp_runtime.expressions.spark_source import SparkJvm, jvm_of_context

EXPRESSIONS: Final = SparkExpressions(
    columns="id BIGINT, word STRING, at TIMESTAMP",
    places=(0, 1, 2),
    where="id >= 0 AND word LIKE 'w%'",
    select=(
        "id + 1",
        "upper(concat(word, CAST(id AS STRING)))",
        "date_trunc('HOUR', at)",
        "get_json_object(word, '$.a')",
        "regexp_replace(word, 'o', '0')",
        "CAST(id AS DECIMAL(18, 2)) * 2",
        "CASE WHEN id > 0 THEN array(id) END",
    ),
)
"""Some of each kind that apps have."""
BATCHES: Final = 3


def main(role: JvmRole) -> None:
    """Load the classes with which expressions are read and evaluated in a JVM of this role."""
    if role is JvmRole.KIT:
        kit = open_expression_jvm()
        read_once(kit.spark)
        list(evaluate_once([0], lambda: kit.folder))
        kit.close()
        return
    processors = 1 if role is JvmRole.LOCAL else 2  # one process has no executors
    spark = open_session("streamapp-recording", processors)
    read_once(jvm_of_context(spark))
    lanes = spark.parallelize(range(processors), processors)
    lanes.mapPartitions(evaluate_once).collect()
    close_session(spark)
    end_jvm()


def read_once(spark: SparkJvm) -> None:
    """Read an expression, as the driver does before there are rows."""
    spark.parsed("id + 1 AS n")
    spark.analysed("SELECT id + 1 AS n FROM (SELECT CAST(NULL AS BIGINT) AS id)")


def evaluate_once(elements: Iterable[int], folder: Callable[[], Path] = worker_folder) -> Iterator[int]:
    """The number of rows of each batch that a worker has had evaluated."""
    rows = [[*elements], ["word"], [0]]
    kinds = (pa.int64(), pa.string(), pa.timestamp("us", "UTC"))
    columns = [pa.array(values, kind) for values, kind in zip(rows, kinds, strict=True)]
    client = ExpressionClient(folder)
    for _ in range(BATCHES):
        yield len(client.evaluate(EXPRESSIONS, columns, 1).is_kept)
    client.close()


if __name__ == "__main__":
    main(JvmRole(sys.argv[1]))
