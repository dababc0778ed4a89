"""The same work by Spark over Kafka, in a process of its own: a line of JSON after each micro-batch."""

import os
import sys
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from bench.engine.stock import SETTINGS, USERS, VIEWS, WAYS, Listener
from bench.kafka.others import COUNTING

Read = Callable[[str, str], DataFrame]


def main(way: str, brokers: str, out: str, rows: str, folder: str, jars: str) -> None:
    """Read so many views in each batch, until there are no more."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName(f"stock {way}")
    for name, value in {**SETTINGS, "spark.jars": jars}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    listener = Listener()
    spark.streams.addListener(listener)

    def read(topic: str, columns: str) -> DataFrame:
        return _read(spark, brokers, topic, columns, rows)

    made = _counted(read) if way == COUNTING else _joined(way, read)
    query = (
        made.selectExpr("CAST(user AS BINARY) AS key", "CAST(to_json(struct(*)) AS BINARY) AS value")
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("topic", out)
        .option("checkpointLocation", folder)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    listener.ended.wait()
    spark.stop()


def _joined(way: str, read: Read) -> DataFrame:
    views = read("views", VIEWS).where("page NOT LIKE '/health%'")
    return WAYS[way](read("users", USERS), views).select("user", "page", "country")


def _counted(read: Read) -> DataFrame:
    """Views of each user in each minute, put out when the watermark has passed it."""
    views = read("views", VIEWS).withWatermark("ts", "10 seconds")
    counts = views.groupBy(f.window("ts", "1 minute"), "user").agg(f.count("*").alias("n"))
    return counts.selectExpr("user", "window.start AS window_start", "window.end AS window_end", "n")


def _read(spark: SparkSession, brokers: str, topic: str, columns: str, rows: str) -> DataFrame:
    found = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", rows)
        .load()
    )
    return found.select(f.from_json(f.col("value").cast("string"), columns).alias("row")).select("row.*")


if __name__ == "__main__":
    main(*sys.argv[1:])
