"""Page views into Parquet by Spark's own sink, in a process of its own: a line of JSON after each batch.

The sink keeps a manifest of the files of each micro-batch, so that rows are there once.
"""

import json
import sys
from pathlib import Path

from bench.app_runs.stock import VIEWS, Listener, stock_session


def main(folder: str) -> None:
    """Read a file of views in each batch, until there are no more."""
    spark = stock_session("parquet")
    listener = Listener()
    spark.streams.addListener(listener)
    root = Path(folder)
    views = spark.readStream.schema(VIEWS).option("maxFilesPerTrigger", 1).json(str(root / "views"))
    real = views.where("page NOT LIKE '/health%'")
    writer = real.writeStream.format("parquet").option("checkpointLocation", str(root / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(root / "out"))
    query.awaitTermination()
    listener.ended.wait()
    print(json.dumps({"rows_out": spark.read.parquet(str(root / "out")).count()}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
