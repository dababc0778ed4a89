"""The Spark session that lanes need: one slot per processor, nothing that moves tasks by itself."""

import os
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors.exceptions.captured import install_exception_handler
from pyspark.find_spark_home import _find_spark_home

from streamapp_runtime.driver.spark.jit_options import LATE_COMPILATION
from streamapp_runtime.driver.spark.jvm import EXECUTOR_OPTIONS, executor_archive_settings, start_jvm
from streamapp_runtime.expressions.spark_source import DeferredSession
from streamapp_runtime.program import sql_layer

# Workers take and give back the same large buffers in every batch. Left to itself the allocator returns them
# to the kernel each time, and getting them again, page by page, cost a fifth of all CPU seconds.
_KEEP_MEMORY: Final[Mapping[str, str]] = {
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "spark.executorEnv.MALLOC_TOP_PAD_": str(64 << 20),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}

SETTINGS: Final[Mapping[str, str]] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.dynamicAllocation.enabled": "false",
    "spark.executor.cores": "1",
    "spark.locality.wait": "3s",  # then the driver hears that a lane has no executor of its own
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.scheduler.mode": "FIFO",
    "spark.speculation": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.task.cpus": "1",
    "spark.task.maxFailures": "1",
    "spark.ui.enabled": "false",
    "spark.ui.killEnabled": "false",  # whoever reaches Spark's pages looks on
    "spark.ui.showConsoleProgress": "false",
    **_KEEP_MEMORY,
    **sql_layer.SESSION_SETTINGS,
}
"""What the engine's promises rest on; `spec.driver.sparkConf` may not change these."""


PLACE: Final = frozenset({"spark.driver.host", "spark.driver.bindAddress", "spark.ui.enabled"})
"""Where the driver is, and whether somebody can look at its pages there: a cluster says that better."""


CONTEXT_AUTHENTICATION: Final = "spark.authenticate.secret"
CONTEXT_ONLY: Final = frozenset({"spark.executor.instances", CONTEXT_AUTHENTICATION})
"""What only the context is told, and no command line.

To begin without executors is a mistake to Spark's launcher; and everybody on a machine reads arguments.
"""


class ExecutorsMissingError(Exception):
    """Not all executors came in time."""


MEMORY: Final = "1g"
"""Of each executor on this machine."""


def open_session(name: str, processors: int, memory: str = MEMORY) -> DeferredSession:
    """Spark on this machine: threads of this process for one processor, real executors for several."""
    master = "local[1]" if processors == 1 else f"local-cluster[{processors},1,{mebibytes(memory)}]"
    shape = {"spark.master": master, "spark.executor.memory": memory}
    if processors > 1:
        archive = executor_archive_settings()
        if options := archive.get(EXECUTOR_OPTIONS):
            archive = {**archive, EXECUTOR_OPTIONS: f"{LATE_COMPILATION} {options}"}
        shape |= archive
    return open_configured_session(name, shape)


def open_configured_session(name: str, shape: Mapping[str, str], log4j: str | None = None) -> DeferredSession:
    """Spark on whatever the settings name; of the engine's own they may change where the driver is.

    `log4j` are the properties by which its JVM logs, where it is started for this session.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    fixed = {key: value for key, value in SETTINGS.items() if key not in PLACE or key not in shape}
    defaults = {"spark.master": "local[1]", EXECUTOR_OPTIONS: LATE_COMPILATION}
    master = shape.get("spark.master", defaults["spark.master"])
    settings = {**defaults, **shape, **fixed, **_authentication(master)}
    start_jvm(((key, value) for key, value in settings.items() if key not in CONTEXT_ONLY), log4j)
    install_exception_handler()  # errors of jobs are what they are with a SQL session
    interrupted = signal.getsignal(signal.SIGINT)
    context = SparkContext.getOrCreate(SparkConf().setAppName(name).setAll(list(settings.items())))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupted)  # Spark's own would cancel the batch
    if log4j is None:
        context.setLogLevel("ERROR")
    return DeferredSession(context)


def _authentication(master: str) -> Mapping[str, str]:
    """Settings by which nobody else on this machine or its network commands this Spark.

    A single process makes a secret by itself. Executors on this machine are told by their environment, since
    Spark takes a file for it on Kubernetes only, where the settings come with the pod.
    """
    if master.startswith("local-cluster["):
        return {"spark.authenticate": "true", CONTEXT_AUTHENTICATION: secrets.token_hex(32)}
    return {"spark.authenticate": "true"} if master.startswith("local[") else {}


def close_session(session: DeferredSession) -> None:
    """End Spark, if it has not ended by itself, and take away the folder that executors here worked in."""
    with suppress(Py4JError, OSError):
        name = session.context.applicationId
        _end_accumulators_apart(session.context)
        session.stop()
        shutil.rmtree(Path(_find_spark_home(), "work", name), ignore_errors=True)


def _end_accumulators_apart(context: SparkContext) -> None:
    """Have pyspark's server of accumulators end beside all else: it looks once a second whether it is to."""
    server: Any = context._accumulatorServer  # noqa: SLF001 - it is nowhere else
    if server is not None:
        server.shutdown = Thread(target=server.shutdown, daemon=True).start


def is_alive(context: SparkContext) -> bool:
    """Whether Spark's driver can be spoken to."""
    try:
        return not context._jsc.sc().isStopped()  # noqa: SLF001 - Spark has no other way
    except (Py4JError, OSError, AttributeError):  # stopped in Python, it has no JVM any more
        return False


def live_executors(context: SparkContext) -> dict[str, str]:
    """The executors that live, id -> host; none where lanes run in the driver's own process."""
    listed = context._jsc.sc().statusStore().executorList(True)  # noqa: SLF001 - Spark has no other way
    hosts = {}
    for index in range(listed.size()):
        executor = listed.apply(index)
        host = executor.hostPort().rpartition(":")[0]
        if executor.id() != "driver" and host:  # one that is just coming has no address yet
            hosts[executor.id()] = host
    return hosts


def in_one_process(context: SparkContext) -> bool:
    """Whether lanes run in the driver's own process, where there are no executors."""
    return (context.master or "").startswith("local[")


def mebibytes(memory: str) -> int:
    """How much `1g` is."""
    number, unit = int(memory[:-1]), memory[-1].lower()
    return number * {"m": 1, "g": 1024}[unit]
