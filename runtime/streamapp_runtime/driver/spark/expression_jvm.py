"""A JVM that reads and evaluates expressions and does nothing else: of tests, of `dev` and of notebooks.

There is no context and no session, and Java compiles quickly rather than well: few rows go through it.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamapp_runtime.driver.spark.jvm import end_gateway, open_gateway
from streamapp_runtime.driver.spark.jvm_process import JvmRequest
from streamapp_runtime.expressions.spark_source import SparkJvm


@dataclass(frozen=True, slots=True)
class ExpressionJvm:
    """The JVM while it lives."""

    spark: SparkJvm
    folder: Path  # with the address of its server
    _gateway: Any

    @property
    def is_alive(self) -> bool:
        """True if it has not ended."""
        return self._gateway.proc.poll() is None

    def close(self) -> None:
        """End it."""
        end_gateway(self._gateway)
        shutil.rmtree(self.folder, ignore_errors=True)


def open_expression_jvm() -> ExpressionJvm:
    """Start such a JVM with its server; JavaMissingError or JvmFailedError if it fails."""
    request = JvmRequest.of_kit()
    gateway = open_gateway(request)
    spark = SparkJvm.of_settings(gateway.jvm, request.settings.items())
    folder = Path(tempfile.mkdtemp(prefix="streamapp-"))
    spark.view.org.apache.spark.sql.streamapp.ExpressionServer.inFolder(str(folder), spark.sql_settings)
    return ExpressionJvm(spark, folder, gateway)
