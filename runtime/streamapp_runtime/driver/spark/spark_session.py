"""The Spark session that lanes need: one slot per processor, nothing that moves tasks by itself."""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import IllegalArgumentException, PySparkException
from pyspark.errors.exceptions.captured import install_exception_handler
from pyspark.find_spark_home import _find_spark_home

from streamapp_runtime.driver.spark.jvm import SparkStartError, start_jvm
from streamapp_runtime.driver.spark.session_settings import (
    command_settings,
    local_shape,
    session_settings,
)
from streamapp_runtime.expressions.spark_messages import spark_message


class ExecutorsMissingError(Exception):
    """Not all executors came in time."""


class SparkSettingsError(SparkStartError):
    """Spark refuses its settings."""

    final = True


def open_session(name: str, processors: int) -> SparkContext:
    """Spark on this machine: threads of this process for one processor, real executors for several."""
    return open_configured_session(name, local_shape(processors))


def open_configured_session(name: str, shape: Mapping[str, str], log4j: str | None = None) -> SparkContext:
    """Spark on whatever the settings name; of the engine's own they may change where the driver is.

    `log4j` are the properties by which its JVM logs, where it is started for this session. SparkStartError
    where Spark does not start.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = session_settings(shape)
    start_jvm(command_settings(settings), log4j)
    install_exception_handler()  # errors of jobs are what they are with a SQL session
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        context = SparkContext.getOrCreate(SparkConf().setAppName(name).setAll(list(settings.items())))
    except PySparkException as error:
        kind = SparkSettingsError if isinstance(error, IllegalArgumentException) else SparkStartError
        raise kind(f"Spark did not start: {spark_message(error)}") from error
    except Py4JJavaError as error:
        raise SparkStartError(f"Spark did not start: {_causes(error)}") from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupted)  # Spark's own would cancel the batch
    if log4j is None:
        context.setLogLevel("ERROR")
    return context


def _causes(error: Py4JJavaError) -> str:
    """The messages of an exception of Java and of its causes, none of them twice."""
    texts, cause = list[str](), error.java_exception
    while cause is not None:
        words = str(cause.getMessage() or "").split()
        name = [f"{cause.getClass().getSimpleName()}:"] if len(words) == 1 else []  # else it explains itself
        text = " ".join([*name, *words]).rstrip(".")
        if text and not any(text in earlier for earlier in texts):
            texts.append(text)
        cause = cause.getCause()
    return "; ".join(texts) or str(error.java_exception.toString())


def close_session(spark: SparkContext) -> None:
    """End Spark, if it has not ended by itself, and take away the folder that executors here worked in."""
    with suppress(Py4JError, OSError):
        name = spark.applicationId
        _end_accumulators_apart(spark)
        spark.stop()
        shutil.rmtree(Path(_find_spark_home(), "work", name), ignore_errors=True)


def _end_accumulators_apart(context: SparkContext) -> None:
    """Have pyspark's server of accumulators end beside all else: it looks once a second whether it is to."""
    server: Any = context._accumulatorServer  # noqa: SLF001 - it is nowhere else
    if server is not None:
        server.shutdown = Thread(target=server.shutdown, daemon=True).start


def is_alive(context: SparkContext) -> bool:
    """True if Spark's driver can be spoken to."""
    try:
        return not context._jsc.sc().isStopped()  # noqa: SLF001 - Spark has no other way
    except (Py4JError, OSError, AttributeError):  # stopped in Python, it has no JVM any more
        return False


def live_executors(context: SparkContext) -> dict[str, str]:
    """The executors that live, id -> host; none where lanes run in the driver's own process.

    One whose connection has ended is listed by Spark until its cluster says what became of it. A node that is
    gone says so after minutes.
    """
    scala: Any = context._jsc.sc()  # noqa: SLF001 - Spark has no other way
    listed, backend = scala.statusStore().executorList(True), scala.schedulerBackend()
    hosts = {}
    for index in range(listed.size()):
        executor = listed.apply(index)
        host = executor.hostPort().rpartition(":")[0]
        name = executor.id()
        # One that is just coming has no address yet.
        if name != "driver" and host and backend.isExecutorActive(name):
            hosts[name] = host
    return hosts


def in_one_process(context: SparkContext) -> bool:
    """True if lanes run in the driver's own process, where there are no executors."""
    return (context.master or "").startswith("local[")
