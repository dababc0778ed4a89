"""The join by Spark over Kafka, in a process of its own: a line of JSON after each micro-batch."""

import os
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from bench.engine.stock import SETTINGS, USERS, VIEWS, WAYS, Listener


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
    views = _read(spark, brokers, "views", VIEWS, rows).where("page NOT LIKE '/health%'")
    made = WAYS[way](_read(spark, brokers, "users", USERS, rows), views)
    query = (
        made.selectExpr(
            "CAST(user AS BINARY) AS key", "CAST(to_json(struct(user, page, country)) AS BINARY) AS value"
        )
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
