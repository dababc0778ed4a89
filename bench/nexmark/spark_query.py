"""A Nexmark query by Spark over Kafka, in a process of its own: a line of JSON after each micro-batch."""

import json
import sys

from pyspark.sql import DataFrame, SparkSession

from bench.app_runs.stock import Listener, stock_session
from bench.kafka.stock import stock_rows, stock_sink

DELAY = "4 seconds"


def main(
    statement: str, key: str, columns: str, brokers: str, out: str, rows: str, folder: str, jars: str
) -> None:
    """Read so many rows of each stream in each batch, until there are no more.

    Where a key is given the answer is one of updates.
    """
    spark = stock_session(out, jars)
    listener = Listener()
    spark.streams.addListener(listener)
    for stream, declared in json.loads(columns).items():
        _read(spark, brokers, stream, declared, rows).createOrReplaceTempView(stream)
    answer = spark.sql(statement)
    sink = stock_sink(answer, brokers, out, folder, key=f"concat_ws('/', {key or answer.columns[0]})")
    query = sink.outputMode("update" if key else "append").trigger(availableNow=True).start()
    query.awaitTermination()
    listener.ended.wait()
    spark.stop()


def _read(spark: SparkSession, brokers: str, stream: str, columns: str, rows: str) -> DataFrame:
    """A stream; the side input is a table, which is read once."""
    if stream == "side_input":
        return stock_rows(spark.read, brokers, stream, columns, {}).cache()
    given = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": rows}
    read = stock_rows(spark.readStream, brokers, stream, columns, given)
    return read.withWatermark("dateTime", DELAY) if "dateTime" in read.columns else read


if __name__ == "__main__":
    main(*sys.argv[1:])
