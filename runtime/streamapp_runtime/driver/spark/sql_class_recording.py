"""Uses SQL once, so that a JVM that writes down its classes has those of SQL among them.

python -m streamapp_runtime.driver.spark.sql_class_recording PROCESSORS
"""

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.functions import col, expr

from streamapp_runtime.driver.spark.jvm import end_jvm
from streamapp_runtime.driver.spark.spark_session import close_session, open_session

BATCHES = 3


def main(processors: int) -> None:
    """Load the classes of a layer of Spark between two of Python, on every executor."""
    session = open_session("streamapp-recording", processors)
    spark = session.open()
    rows = spark.range(processors, numPartitions=processors).mapInArrow(same_rows, "id long")
    rows = rows.select(expr("id + 1 AS id"), expr("upper(CAST(id AS STRING)) AS text"))
    rows = rows.where(col("id") > 0).mapInArrow(same_rows, "id long, text string")
    for _ in range(BATCHES):
        rows.rdd.collect()
    close_session(session)
    end_jvm()


def same_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as it is."""
    yield from batches


if __name__ == "__main__":
    main(int(sys.argv[1]))
