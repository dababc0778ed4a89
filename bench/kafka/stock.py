"""The same work by Spark over Kafka, in a process of its own: a line of JSON after each micro-batch."""

import sys
from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, DataFrameReader
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from bench.app_runs.stock import USERS, VIEWS, WAYS, Listener, stock_session
from bench.kafka.others import COUNTING

Read = Callable[[str, str], DataFrame]


def stock_rows(
    reader: DataFrameReader | DataStreamReader,
    brokers: str,
    topic: str,
    columns: str,
    options: Mapping[str, str],
) -> DataFrame:
    """The rows of a topic's records."""
    source = reader.format("kafka").option("kafka.bootstrap.servers", brokers)
    records = source.option("subscribe", topic).options(**options).load()
    return records.select(f.from_json(f.col("value").cast("string"), columns).alias("row")).select("row.*")


def stock_sink(rows: DataFrame, brokers: str, out: str, folder: str, key: str = "user") -> DataStreamWriter:
    """Rows on their way into a topic, under the value of this expression."""
    records = rows.selectExpr(f"CAST({key} AS BINARY) AS key", "CAST(to_json(struct(*)) AS BINARY) AS value")
    sink = records.writeStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    return sink.option("topic", out).option("checkpointLocation", folder)


def main(way: str, brokers: str, out: str, rows: str, folder: str, jars: str) -> None:
    """Read so many views in each batch, until there are no more."""
    spark = stock_session(way, jars)
    listener = Listener()
    spark.streams.addListener(listener)

    def read(topic: str, columns: str) -> DataFrame:
        given = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": rows}
        return stock_rows(spark.readStream, brokers, topic, columns, given)

    made = _counted(read) if way == COUNTING else _joined(way, read)
    query = stock_sink(made, brokers, out, folder).trigger(availableNow=True).start()
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


if __name__ == "__main__":
    main(*sys.argv[1:])
