"""Spark's JVM, as this process calls it: its gateway, quiet on the terminal."""

import atexit
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from streamapp_runtime.driver.spark import spark_home
from streamapp_runtime.driver.spark.java_command import spark_jars
from streamapp_runtime.driver.spark.jvm_options import COMMON_OPTIONS
from streamapp_runtime.driver.spark.jvm_process import (
    JvmEndedError,
    JvmProcess,
    JvmRequest,
    start_process,
    take_early,
)
from streamapp_runtime.driver.spark.session_settings import own_environment
from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT
from streamapp_runtime.installed_java import find_java

MINIMUM_JAVA: Final = 17
JAVA_NEEDED: Final = f"Spark needs Java {MINIMUM_JAVA} or newer"
MOST_OUTPUT: Final = 1_000
"""Characters of its last words."""


class JavaMissingError(Exception):
    """There is no Java that Spark could run on; the message says what there is."""


class SparkStartError(Exception):
    """Spark did not start; the message says why."""

    final = False
    """Whether it would not start the next time either."""


class JvmFailedError(SparkStartError):
    """Java is there, and Spark's JVM ended at its start; the message has its last words."""


def start_jvm(settings: Mapping[str, str], log4j: str | None = None) -> None:
    """Start the JVM of this process, unless it has one; JavaMissingError or JvmFailedError if it fails.

    `settings` are those of its command, `log4j` the properties of its logging; left out: those of a run on a
    terminal. One that was started early for the same is taken.
    """
    SPARK_OUTPUT.mute(False)
    if SparkContext._gateway is not None:  # noqa: SLF001 - Spark has no other way to be asked
        return
    gateway = open_gateway(JvmRequest.of_driver(settings, log4j))
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - nor to be given a gateway


def open_gateway(request: JvmRequest) -> Any:
    """The gateway of a JVM that is started for it; JavaMissingError or JvmFailedError if that fails."""
    java = _java()
    started = take_early(request) or start_process(request)
    try:
        return _launched_gateway(request) if started is None else _gateway_of(request, started, java)
    except JvmEndedError as ended:
        raise _failed(java, str(ended)) from ended


def end_jvm() -> None:
    """End the JVM of this process, if there is one; the next session starts another."""
    gateway = SparkContext._gateway  # noqa: SLF001 - Spark has no other way to be asked
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - so that another is started
    end_gateway(gateway)


def end_gateway(gateway: Any) -> None:
    """End the JVM of a gateway."""
    gateway.shutdown()
    gateway.proc.stdin.close()  # which ends it
    gateway.proc.wait()


def mute_jvm() -> None:
    """From now on nothing is passed on: what is still at work when Spark ends says that it was cut off."""
    SPARK_OUTPUT.mute(True)


def _gateway_of(request: JvmRequest, started: JvmProcess, java: str) -> Any:
    """The gateway of a JVM, or of another one without the archive that it could not start with."""
    try:
        gateway = _called(started)
    except JvmEndedError:
        if started.archive is None or not started.archive.is_whole:
            raise
        started.archive.discard()
        again = start_process(request, archived=False)
        if again is None:
            raise
        return _called(again)
    folder = spark_home.own_jars()
    if started.archive is not None and started.records and folder is not None:
        atexit.register(started.archive.make_later, java, spark_jars(folder), started.process.pid)
    return gateway


def _called(started: JvmProcess) -> Any:
    """The gateway of a JVM, whose output is passed on from now on."""
    port, secret = started.address()
    Thread(target=_pass_on, args=(started.output,), daemon=True).start()
    launch: Any = launch_gateway  # made without types
    os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = secret
    try:
        gateway = launch()
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = started.process
    return gateway


def _launched_gateway(request: JvmRequest) -> Any:
    """The gateway of a JVM that Spark's launcher starts."""
    os.environ.update(own_environment(request.settings))
    read_end, write_end = os.pipe()
    output = os.fdopen(read_end, "rb")
    launch: Any = launch_gateway
    with tempfile.TemporaryDirectory(prefix="streamapp-") as folder:  # read once, before there is a gateway
        configuration = Path(folder, "log4j2.properties")
        configuration.write_text(request.log4j, "utf-8")
        options = f"-Dlog4j2.configurationFile={configuration.as_uri()} {COMMON_OPTIONS}"
        settings = {**request.settings, "spark.driver.defaultJavaOptions": options}
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        try:
            gateway = launch(conf, {"stderr": write_end, "start_new_session": True})
        except PySparkRuntimeError as error:
            os.close(write_end)
            with output:
                raise JvmEndedError(output.read().decode(errors="replace")) from error
    os.close(write_end)
    Thread(target=_pass_on, args=(output,), daemon=True).start()
    return gateway


def _java() -> str:
    """The Java that Spark's own scripts would take."""
    java = find_java()
    if java is None:
        java_home = os.environ.get("JAVA_HOME")
        where = f"in JAVA_HOME, which is {java_home}" if java_home else "on the PATH"
        raise JavaMissingError(f"{JAVA_NEEDED}, and there is no java {where}: install it, or set JAVA_HOME")
    return java


def _failed(java: str, words: str) -> Exception:
    """The error of a failed start; JavaMissingError for want of a newer Java: that no further try fixes."""
    version = _version(java)
    number = re.search(r'version "(?:1\.)?(\d+)', version)
    if number is None or int(number[1]) < MINIMUM_JAVA:
        return JavaMissingError(f"{JAVA_NEEDED}, and could not be started with {java}: {version}")
    return JvmFailedError(
        f"Spark's JVM ended at its start: {words.strip()[-MOST_OUTPUT:] or 'without a word'}"
    )


def _version(java: str) -> str:
    process = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    lines = (process.stderr or process.stdout).splitlines()
    return lines[0] if lines else "it says nothing of its version"


def _pass_on(output: IO[bytes]) -> None:
    """Pass on the output of the JVM and its workers."""
    with output:
        for line in output:
            SPARK_OUTPUT.write(line.decode(errors="replace"))
