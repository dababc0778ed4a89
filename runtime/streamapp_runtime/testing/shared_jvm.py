"""The one JVM that all tests of a process share, started when the first expression needs it."""

import atexit
from pathlib import Path
from typing import Final

from streamapp_runtime.driver.spark.expression_jvm import ExpressionJvm, open_expression_jvm
from streamapp_runtime.expressions.spark_source import SparkJvm

_open: Final[list[ExpressionJvm]] = []
"""At most one."""


def shared_jvm() -> SparkJvm:
    """The JVM; the first call takes the seconds that it takes to start."""
    return _shared().spark


def server_folder() -> Path:
    """The folder with the address of its server."""
    return _shared().folder


def end_shared_jvm() -> None:
    """End the JVM that was started here; the next call starts another."""
    while _open:
        _open.pop().close()


def _shared() -> ExpressionJvm:
    if not _open or not _open[0].is_alive:
        end_shared_jvm()
        _open.append(open_expression_jvm())
        atexit.register(end_shared_jvm)
    return _open[0]
