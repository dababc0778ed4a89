"""One start, of an app or of a bare PySpark session, by itself: a line of JSON after each step."""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import patch

from bench.app_runs.spent import cpu_seconds


def say(step: str) -> None:
    """This step has ended."""
    print(json.dumps([step, time.monotonic(), sum(cpu_seconds().values())]), flush=True)


def bare() -> None:
    """What any PySpark program with a Python function does."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import pyarrow as pa
    from pyspark.sql import SparkSession

    def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    say("Python imports")
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    say("JVM, context and SQL session")
    session.range(1_000).mapInArrow(same, "id long").count()
    say("first batch")
    session.stop()
    say("Spark's end")


def app(file: Path, data: Path, processors: int) -> None:
    """An app until the end of its streams."""
    from bench.app_runs.measuring_observer import MeasuringObserver
    from streamapp.spec.parser import parse
    from streamapp_runtime.driver.modes.app_run import run_app
    from streamapp_runtime.driver.modes.standalone import RunOptions, Standalone
    from streamapp_runtime.driver.modes.stop_signal import SignalStop
    from streamapp_runtime.driver.spark import jvm, spark_session

    say("Python imports")
    start_jvm = jvm.start_jvm

    def timed_start(settings: Mapping[str, str], log4j: str | None = None) -> None:
        start_jvm(settings, log4j)
        say("JVM until its gateway")

    @dataclass(slots=True)
    class TimedRun(Standalone):
        """Says when there is a session."""

        def open_executors(self, storage: Any) -> Any:
            pool = Standalone.open_executors(self, storage)
            say("context and SQL session")
            return pool

    seen = Event()

    def batch_ended(_: object) -> None:
        if not seen.is_set():
            say("first batch")
        seen.set()

    observer = MeasuringObserver(lambda: say("compile"), batch_ended)
    found = parse(file.read_text())
    with patch.object(spark_session, "start_jvm", timed_start):
        run_app(TimedRun(found.apps[0], RunOptions(processors, data, until_end=True)), SignalStop(), observer)
    say("further batches, Spark's end")


if __name__ == "__main__":
    if sys.argv[1:]:
        app(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    else:
        bare()
