"""A query of Spark that keeps no state, from Kafka to Kafka, in a process of its own until it is ended.

It runs in micro-batches that follow each other at once, or in real-time mode, which has a task for each
partition all of the time, and puts rows out before their batch has ended.
"""

import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamWriter

from bench.engine.stock import SETTINGS, VIEWS

BATCH_OF_REAL_TIME = "5 minutes"


def main(trigger: str, brokers: str, out: str, partitions: str, folder: str, jars: str) -> None:
    """Filter views that come from now on."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{partitions}]").appName(f"stock {trigger}")
    for name, value in {**SETTINGS, "spark.jars": jars}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    views = source.option("subscribe", "views").option("startingOffsets", "latest").load()
    rows = views.select(f.from_json(f.col("value").cast("string"), VIEWS).alias("row")).select("row.*")
    kept = rows.where("page NOT LIKE '/health%'")
    records = kept.selectExpr("CAST(user AS BINARY) AS key", "CAST(to_json(struct(*)) AS BINARY) AS value")
    sink = records.writeStream.format("kafka").option("kafka.bootstrap.servers", brokers).option("topic", out)
    query = _triggered(sink.option("checkpointLocation", folder).outputMode("update"), trigger).start()
    query.awaitTermination()


def _triggered(writer: DataStreamWriter, trigger: str) -> DataStreamWriter:
    match trigger:
        case "micro-batches":
            return writer.trigger(processingTime="0 seconds")
        case "real-time mode":
            # Its signatures for checkers leave this one out.
            return writer.trigger(realTime=BATCH_OF_REAL_TIME)  # type: ignore[call-overload, no-any-return]
        case _:
            raise ValueError(f"Spark has no {trigger}")


if __name__ == "__main__":
    main(*sys.argv[1:])
