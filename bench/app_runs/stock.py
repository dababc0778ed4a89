"""The same join by Spark's own means, in a process of its own: a line of JSON after each micro-batch.

Users and views are files of JSON lines; so is what comes out. The users are a stream: they may change.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from bench.app_runs.spent import cpu_seconds

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
VIEWS = "user STRING, page STRING, ts TIMESTAMP"
USERS = "user STRING, country STRING, tier INT"
Frames = Iterator[pd.DataFrame]
JOINED = "user STRING, page STRING, country STRING"


class CountryOfUser(StatefulProcessor):
    """Remembers a user's country, and puts it to the views of that user."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """One value for each user."""
        self._country = handle.getValueState("country", "country STRING")

    def handleInputRows(self, key: Any, rows: Frames, timerValues: Any) -> Frames:  # noqa: N802, N803 - Spark's
        """Views go on with the country; what is a user is kept."""
        known = self._country.get() if self._country.exists() else None
        for found in rows:
            told = found["country"].dropna()
            if len(told):
                known = (str(told.iloc[-1]),)
                self._country.update(known)
            views = found[found["page"].notna()]
            if known and len(views):
                yield pd.DataFrame({"user": key[0], "page": views["page"], "country": known[0]})

    def close(self) -> None:
        """Nothing is held."""


def with_state(users: DataFrame, views: DataFrame) -> DataFrame:
    """By `transformWithStateInPandas` over both streams as one."""
    both = users.selectExpr("user", "NULL AS page", "country").unionByName(
        views.selectExpr("user", "page", "CAST(NULL AS STRING) AS country")
    )
    return both.groupBy("user").transformWithStateInPandas(CountryOfUser(), JOINED, "Append", "None")


def stream_to_stream(users: DataFrame, views: DataFrame) -> DataFrame:
    """By Spark's join of two streams, which keeps both."""
    return views.join(users, "user").select("user", "page", "country")


WAYS = {"with_state": with_state, "stream_to_stream": stream_to_stream}


class Listener(StreamingQueryListener):
    """Says what was used whenever a micro-batch has ended."""

    def __init__(self) -> None:
        self.ended = Event()

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - as Spark calls it
        """Nothing to say."""

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing to say."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """The rows of the batch."""
        print(json.dumps([event.progress.numInputRows, sum(cpu_seconds().values())]), flush=True)

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """All has been said."""
        self.ended.set()


def stock_session(way: str, jars: str = "", cores: int = 2) -> SparkSession:
    """A session of Spark's own, with these jars."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").appName(f"stock {way}")
    for name, value in (SETTINGS | ({"spark.jars": jars} if jars else {})).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def main(way: str, folder: str) -> None:
    """Read a file of views in each batch, until there are no more."""
    spark = stock_session(way)
    listener = Listener()
    spark.streams.addListener(listener)
    root = Path(folder)
    users = spark.readStream.schema(USERS).json(str(root / "users"))
    views = spark.readStream.schema(VIEWS).option("maxFilesPerTrigger", 1).json(str(root / "views"))
    joined = WAYS[way](users, views.where("page NOT LIKE '/health%'"))
    out = joined.selectExpr("to_json(struct(user, page, country)) AS value")
    query = (
        out.writeStream.format("text")
        .option("checkpointLocation", str(root / f"{way}-checkpoint"))
        .trigger(availableNow=True)
        .start(str(root / f"{way}-out"))
    )
    query.awaitTermination()
    listener.ended.wait()
    written = spark.read.text(str(root / f"{way}-out")).count()
    print(json.dumps({"rows_out": written}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
