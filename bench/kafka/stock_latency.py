"""A query of Spark that keeps no state, from Kafka to Kafka, in a process of its own until it is ended.

It runs in micro-batches that follow each other at once, or in real-time mode, which has a task for each
partition all of the time, and puts rows out before their batch has ended.
"""

import sys

from pyspark.sql.streaming.readwriter import DataStreamWriter

from bench.app_runs.stock import VIEWS, stock_session
from bench.kafka.stock import stock_rows, stock_sink

BATCH_OF_REAL_TIME = "5 minutes"


def main(trigger: str, brokers: str, out: str, partitions: str, folder: str, jars: str) -> None:
    """Filter views that come from now on."""
    spark = stock_session(trigger, jars, int(partitions))
    views = stock_rows(spark.readStream, brokers, "views", VIEWS, {"startingOffsets": "latest"})
    sink = stock_sink(views.where("page NOT LIKE '/health%'"), brokers, out, folder)
    _triggered(sink.outputMode("update"), trigger).start().awaitTermination()


def _triggered(writer: DataStreamWriter, trigger: str) -> DataStreamWriter:
    match trigger:
        case "micro-batches":
            return writer.trigger(processingTime="0 seconds")
        case "real-time mode":
            # The overloads that PySpark declares leave this keyword out.
            return writer.trigger(realTime=BATCH_OF_REAL_TIME)  # type: ignore[call-overload, no-any-return]
        case _:
            raise ValueError(f"Spark has no {trigger}")


if __name__ == "__main__":
    main(*sys.argv[1:])
