"""Spark's JVM: started apart from the terminal, and quiet on it.

It gets a session of its own, so that an interrupt at the terminal reaches this process alone, which ends its
batch first. The JVM ends when this process does, however that happens: it reads a pipe that closes then.
"""

import atexit
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from streamapp_runtime.driver.spark import spark_home
from streamapp_runtime.driver.spark.class_archive import ClassArchive, JvmRole, joined
from streamapp_runtime.driver.spark.java_command import (
    default_settings,
    driver_command,
    find_java,
    scala_version,
    spark_jars,
)
from streamapp_runtime.driver.spark.jit_options import LATE_COMPILATION
from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT
from streamapp_runtime.log_lines.log4j_configuration import terminal_configuration

MINIMUM_JAVA: Final = 17
JAVA_NEEDED: Final = f"Spark needs Java {MINIMUM_JAVA} or newer"
EXECUTOR_CLASS_PATH: Final = "spark.executor.extraClassPath"
EXECUTOR_OPTIONS: Final = "spark.executor.defaultJavaOptions"
MOST_OUTPUT: Final = 1_000
"""Characters of its last words."""


class JavaMissingError(Exception):
    """There is no Java that Spark could run on; the message says what there is."""


class JvmFailedError(Exception):
    """Java is there, and Spark's JVM ended at its start; the message has its last words."""


def start_jvm(settings: Iterable[tuple[str, str]], log4j: str | None = None) -> None:
    """Start the JVM of this process, unless it has one; JavaMissingError or JvmFailedError if it fails.

    `log4j` are the properties of its logging; left out: those of a run on a terminal.
    """
    SPARK_OUTPUT.mute(False)
    if SparkContext._gateway is not None:  # noqa: SLF001 - Spark has no other way to be asked
        return
    java = _java()
    spark_home.prepare_spark_home()
    read_end, write_end = os.pipe()
    output = os.fdopen(read_end, "rb")
    with tempfile.TemporaryDirectory(prefix="streamapp-") as folder:  # read once, before there is a gateway
        configuration = Path(folder, "log4j2.properties")
        configuration.write_text(terminal_configuration() if log4j is None else log4j, "utf-8")
        options = f"-Dlog4j2.configurationFile={configuration.as_uri()} {LATE_COMPILATION}"
        known = {**dict(settings), "spark.driver.defaultJavaOptions": options}
        try:
            gateway = _direct_gateway(java, known, write_end) or _launched_gateway(known, write_end)
        except PySparkRuntimeError as error:
            os.close(write_end)
            with output:
                raise _failed(java, output.read().decode(errors="replace")) from error
    os.close(write_end)
    Thread(target=_pass_on, args=(output,), daemon=True).start()
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - nor to be given a gateway


def end_jvm() -> None:
    """End the JVM of this process, if there is one; the next session starts another."""
    gateway = SparkContext._gateway  # noqa: SLF001 - Spark has no other way to be asked
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - so that another is started
    gateway.shutdown()
    gateway.proc.stdin.close()  # which ends it
    gateway.proc.wait()


def executor_archive_settings() -> Mapping[str, str]:
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
    return {EXECUTOR_CLASS_PATH: os.pathsep.join(jars), EXECUTOR_OPTIONS: joined(options)}


def mute_jvm() -> None:
    """From now on nothing is passed on: what is still at work when Spark ends says that it was cut off."""
    SPARK_OUTPUT.mute(True)


def _direct_gateway(java: str, settings: Mapping[str, str], output: int) -> Any:
    """The gateway of a JVM that is started without Spark's launcher; None where only that can start it."""
    folder = spark_home.own_jars()
    if folder is None:
        return None
    jars = spark_jars(folder)
    archive = ClassArchive.of(JvmRole.of_driver(settings["spark.master"]), java, jars)
    while True:
        options = archive.options() if archive else ()
        command = driver_command(java, jars, settings, os.environ, options)
        if command is None:
            return None
        try:
            gateway = _started(command, jars, output)
        except PySparkRuntimeError:
            if archive is None or not archive.is_whole:
                raise
            archive.discard()
            archive = None
            continue
        if archive is not None and not archive.is_whole:
            atexit.register(archive.make_later, java, jars, gateway.proc.pid)
        return gateway


def _started(command: list[str], jars: Sequence[str], output: int) -> Any:
    """The gateway of the JVM that a command starts."""
    with tempfile.TemporaryDirectory() as folder:
        port_file = Path(folder) / "gateway"
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "SPARK_CONNECT_MODE": "0",
            "SPARK_SCALA_VERSION": scala_version(jars),  # the launcher of executors asks for it
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(port_file),
        }
        with _deferred_interrupts() as raise_interrupts:
            process = subprocess.Popen(  # noqa: S603 - Spark
                command,
                stdin=subprocess.PIPE,  # closed when this process ends
                stderr=output,
                env=environment,
                start_new_session=True,
                preexec_fn=_ignore_interrupts,  # noqa: PLW1509 - as pyspark does
            )
            try:
                raise_interrupts()
                _await_port(process, port_file)
            except BaseException:  # an interrupt: the JVM could not write to a folder that is gone
                process.kill()
                process.wait()
                raise
        port_and_secret = port_file.read_bytes()
    launch: Any = launch_gateway  # made without types
    os.environ["PYSPARK_GATEWAY_PORT"] = str(int.from_bytes(port_and_secret[:4]))
    os.environ["PYSPARK_GATEWAY_SECRET"] = port_and_secret[8:].decode()  # behind its length
    try:
        gateway = launch()
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = process
    return gateway


def _await_port(process: subprocess.Popen[bytes], port_file: Path) -> None:
    while not port_file.is_file():
        if process.poll() is not None:
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
        time.sleep(0.01)


@contextmanager
def _deferred_interrupts() -> Iterator[Callable[[], None]]:
    """Let no interrupt come between the fork of a process and the variable that has it.

    What is given raises those that came, and lets further ones come as before.
    """
    if threading.current_thread() is not threading.main_thread():  # no other thread is interrupted
        yield lambda: None
        return
    arrived: list[int] = []
    former = signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
    deferred = True

    def raise_interrupts() -> None:
        nonlocal deferred
        if deferred:
            deferred = False
            signal.signal(signal.SIGINT, signal.SIG_DFL if former is None else former)
            if arrived:
                signal.raise_signal(signal.SIGINT)

    try:
        yield raise_interrupts
    finally:
        raise_interrupts()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _launched_gateway(settings: Mapping[str, str], output: int) -> Any:
    """The gateway of a JVM that Spark's launcher starts."""
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    launch: Any = launch_gateway
    return launch(conf, {"stderr": output, "start_new_session": True})


def _java() -> str:
    """The Java that Spark's own scripts would take."""
    java = find_java()
    if java is None:
        java_home = os.environ.get("JAVA_HOME")
        where = f"in JAVA_HOME, which is {java_home}" if java_home else "on the PATH"
        raise JavaMissingError(f"{JAVA_NEEDED}, and there is no java {where}: install it, or set JAVA_HOME")
    return java


def _failed(java: str, words: str) -> Exception:
    """Whether it is for want of a newer Java: that no further try fixes."""
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
    """What the JVM and its workers say."""
    with output:
        for line in output:
            SPARK_OUTPUT.write(line.decode(errors="replace"))
