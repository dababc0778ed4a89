"""The settings of Spark: those that the engine rests on, and those of a run on this machine.

Imports nothing of Spark's, so that its JVM can start before all that is imported.
"""

import atexit
import os
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from streamapp_runtime.driver.spark import spark_home
from streamapp_runtime.driver.spark.class_archive import ClassArchive, JvmRole, joined
from streamapp_runtime.driver.spark.expression_jar import PLUGIN, expression_jar
from streamapp_runtime.driver.spark.java_command import (
    default_settings,
    known_settings,
    spark_jars,
)
from streamapp_runtime.driver.spark.jvm_options import USUAL_MEMORY, jvm_options, mebibytes
from streamapp_runtime.installed_java import find_java

EXECUTOR_CLASS_PATH: Final = "spark.executor.extraClassPath"
EXECUTOR_OPTIONS: Final = "spark.executor.defaultJavaOptions"
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
}
"""What the engine's promises rest on; `spec.driver.sparkConf` may not change these."""


PLACE: Final = frozenset({"spark.driver.host", "spark.driver.bindAddress", "spark.ui.enabled"})
"""Where the driver is, and whether somebody can look at its pages there: a cluster says that better."""


CONTEXT_AUTHENTICATION: Final = "spark.authenticate.secret"
_PAGE_FILTER: Final = "org.apache.spark.ui.JWSFilter"
_PAGE_SECRET: Final = f"spark.{_PAGE_FILTER}.param.secretKey"
CONTEXT_ONLY: Final = frozenset({"spark.executor.instances", CONTEXT_AUTHENTICATION, _PAGE_SECRET})
"""What only the context is told, and no command line.

To begin without executors is a mistake to Spark's launcher; and everybody on a machine reads arguments.
"""


@cache  # a JVM that is started early is asked for twice
def local_shape(processors: int) -> Mapping[str, str]:
    """Settings of a run on this machine: threads of one JVM for one processor, real executors for several."""
    master = "local[1]" if processors == 1 else f"local-cluster[{processors},1,{mebibytes(USUAL_MEMORY)}]"
    shape = {"spark.master": master, "spark.executor.memory": USUAL_MEMORY}
    return shape if processors == 1 else {**shape, **_executor_archive_settings(shape)}


def session_settings(shape: Mapping[str, str]) -> dict[str, str]:
    """All settings of a session; of the engine's own, `shape` may change where the driver is."""
    fixed = {key: value for key, value in SETTINGS.items() if key not in PLACE or key not in shape}
    executor_options = jvm_options(known_settings(shape), "executor")
    defaults = {"spark.master": "local[1]", EXECUTOR_OPTIONS: executor_options}
    master = shape.get("spark.master", defaults["spark.master"])
    return {**defaults, **shape, **fixed, **_plugin_settings(shape), **_authentication(master)}


def own_environment(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Variables of the JVM of a run on this machine: all that Spark listens at is on loopback."""
    is_local = settings["spark.master"].startswith("local")
    return dict.fromkeys(("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME"), "127.0.0.1") if is_local else {}


def command_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that the command of the JVM has."""
    return {key: value for key, value in settings.items() if key not in CONTEXT_ONLY}


def _plugin_settings(shape: Mapping[str, str]) -> Mapping[str, str]:
    """Settings with which executors evaluate expressions; a Spark of the user's own is given the jar."""
    known = known_settings(shape)
    lists = {"spark.plugins": PLUGIN}
    if own_home := os.environ.get(spark_home.VARIABLE):
        jar = None if spark_home.own_jars() else expression_jar(Path(own_home, "jars"))
        if jar is not None:
            lists["spark.jars"] = str(jar)
    return {name: ",".join(filter(None, (known.get(name), value))) for name, value in lists.items()}


def _executor_archive_settings(shape: Mapping[str, str]) -> Mapping[str, str]:
    """Settings with which executors on this machine use an archive of classes, or record one."""
    spark_home.prepare_spark_home()
    java, folder, defaults = find_java(), spark_home.own_jars(), default_settings(os.environ)
    if java is None or folder is None or defaults is None or EXECUTOR_CLASS_PATH in defaults:
        return {}
    jars = spark_jars(folder)
    archive = ClassArchive.of(JvmRole.EXECUTOR, java, jars)
    options = archive.options() if archive else ()
    if archive is None or not options:
        return {}
    if not archive.is_whole:
        atexit.register(archive.make_later, java, jars, os.getpid())
    # Behind these come the same jars by the names that Spark has for them, which no archive knows.
    return {
        EXECUTOR_CLASS_PATH: os.pathsep.join(jars),
        EXECUTOR_OPTIONS: f"{jvm_options(known_settings(shape), 'executor')} {joined(options)}",
    }


def _authentication(master: str) -> Mapping[str, str]:
    """Settings by which nobody else on this machine or its network commands this Spark.

    A single process makes a secret by itself. Executors on this machine are told by their environment, since
    Spark takes a file for it on Kubernetes only, where the settings come with the pod.
    """
    if master.startswith("local-cluster["):
        # The pages of Spark's master and workers cannot be turned off: they answer who has a key of nobody's.
        pages = {"spark.ui.filters": _PAGE_FILTER, _PAGE_SECRET: secrets.token_urlsafe(48)}
        return {"spark.authenticate": "true", CONTEXT_AUTHENTICATION: secrets.token_hex(32), **pages}
    return {"spark.authenticate": "true"} if master.startswith("local[") else {}
