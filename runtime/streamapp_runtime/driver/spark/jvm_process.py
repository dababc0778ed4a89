"""The process of Spark's JVM: started apart from the terminal, and waited for until it can be called.

It gets a session of its own, so that an interrupt at the terminal reaches this process alone, which ends its
batch first. The JVM ends when this process does, however that happens: it reads a pipe that closes then.

Imports nothing of Spark's: a run starts its JVM, and imports the rest meanwhile.
"""

import atexit
import os
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from streamapp_runtime.driver.spark import spark_home
from streamapp_runtime.driver.spark.class_archive import ClassArchive, JvmRole
from streamapp_runtime.driver.spark.java_command import (
    driver_command,
    known_settings,
    scala_version,
    spark_jars,
)
from streamapp_runtime.driver.spark.jvm_options import QUICK_OPTIONS, jvm_options
from streamapp_runtime.driver.spark.session_settings import (
    command_settings,
    own_environment,
    session_settings,
)
from streamapp_runtime.installed_java import find_java
from streamapp_runtime.log_lines.log4j_configuration import terminal_configuration

_ADDRESS_VARIABLE: Final = "_PYSPARK_DRIVER_CONN_INFO_PATH"


class JvmEndedError(Exception):
    """The JVM has ended at its start; the message has its last words."""


@dataclass(frozen=True, slots=True)
class JvmRequest:
    """A request for a JVM: the settings of its command, and its logging."""

    settings: Mapping[str, str]  # of its command
    log4j: str  # the properties of its logging
    role: JvmRole

    @classmethod
    def of_driver(cls, settings: Mapping[str, str], log4j: str | None = None) -> "JvmRequest":
        """For a driver; it logs as a run on a terminal does, unless it is told otherwise."""
        role = JvmRole.of_driver(settings["spark.master"])
        return cls(settings, terminal_configuration() if log4j is None else log4j, role)

    @classmethod
    def of_session(cls, shape: Mapping[str, str], log4j: str | None = None) -> "JvmRequest":
        """For the driver of a session with these settings beside the engine's own."""
        return cls.of_driver(command_settings(session_settings(shape)), log4j)

    @classmethod
    def of_kit(cls) -> "JvmRequest":
        """For expressions alone."""
        settings = command_settings(session_settings({}))
        return cls(settings, terminal_configuration(), JvmRole.KIT)


@dataclass(frozen=True, slots=True)
class JvmProcess:
    """A JVM that has been started, until it says how it is called."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]  # what it and its workers write
    archive: ClassArchive | None  # of the classes that it takes from there, or writes down
    records: bool  # whether it writes them down
    _folder: tempfile.TemporaryDirectory[str]
    _end_with_folder: "weakref.finalize[[], tempfile.TemporaryDirectory[str]]"

    def address(self) -> tuple[int, str]:
        """The port and the secret of its gateway, once there is one; JvmEndedError if it has ended."""
        file = _address_file(self._folder)
        try:
            while not file.is_file() and self.process.poll() is None:
                time.sleep(0.01)
            port_and_secret = file.read_bytes() if file.is_file() else b""
        except BaseException:  # an interrupt
            self.kill()
            raise
        self._end_with_folder.detach()
        self._folder.cleanup()
        if not port_and_secret:
            with self.output:
                raise JvmEndedError(self.output.read().decode(errors="replace"))
        return int.from_bytes(port_and_secret[:4]), port_and_secret[8:].decode()  # behind its length

    def kill(self) -> None:
        """End it: it could not write to a folder that is gone."""
        self._end_with_folder.detach()
        self.process.kill()
        self.process.wait()
        self.output.close()
        self._folder.cleanup()


_early: list[tuple[JvmRequest, JvmProcess]] = []
"""At most one: a JVM that nobody has called yet."""


def start_early(request: JvmRequest) -> None:
    """Start the JVM of a run, beside what this process still imports.

    Whatever keeps it from starting is for the one who needs it to say.
    """
    with suppress(OSError):
        started = start_process(request)
        if started is not None:
            _early.append((request, started))
            atexit.register(end_early)


def take_early(request: JvmRequest) -> JvmProcess | None:
    """The JVM that was started for this; one for anything else is ended."""
    if _early and _early[0][0] == request:
        return _early.pop()[1]
    end_early()
    return None


def end_early() -> None:
    """End the JVM that nobody has called."""
    while _early:
        _early.pop()[1].kill()


def start_process(request: JvmRequest, *, archived: bool = True) -> JvmProcess | None:
    """Start a JVM; None where there is no Java, or where only Spark's launcher can start it."""
    java = find_java()
    spark_home.prepare_spark_home()
    jar_folder = spark_home.own_jars()
    if java is None or jar_folder is None:
        return None
    jars = spark_jars(jar_folder)
    archive = ClassArchive.of(request.role, java, jars)
    archive_options = archive.options() if archive and archived else ()
    folder = tempfile.TemporaryDirectory(
        prefix="streamapp-"
    )  # read and written once, before there is a gateway
    configuration = Path(folder.name, "log4j2.properties")
    configuration.write_text(request.log4j, "utf-8")
    is_kit = request.role is JvmRole.KIT
    own_options = QUICK_OPTIONS if is_kit else jvm_options(known_settings(request.settings), "driver")
    options = f"-Dlog4j2.configurationFile={configuration.as_uri()} {own_options}"
    settings = {**request.settings, "spark.driver.defaultJavaOptions": options}
    command = driver_command(java, jars, settings, os.environ, archive_options)
    if command is None:
        folder.cleanup()
        return None
    environment = {
        **os.environ,
        **own_environment(request.settings),
        "PYTHONHASHSEED": "0",
        "SPARK_CONNECT_MODE": "0",
        "SPARK_SCALA_VERSION": scala_version(jars),  # the launcher of executors asks for it
        _ADDRESS_VARIABLE: str(_address_file(folder)),
    }
    read_end, write_end = os.pipe()
    with _deferred_interrupts() as raise_interrupts:
        process = subprocess.Popen(  # noqa: S603 - Spark
            command,
            stdin=subprocess.PIPE,  # closed when this process ends
            stdout=write_end,  # where it says why it cannot start
            stderr=write_end,
            env=environment,
            start_new_session=True,
            preexec_fn=_ignore_interrupts,  # noqa: PLW1509 - as pyspark does
        )
        os.close(write_end)
        records = bool(archive_options) and archive is not None and not archive.is_whole
        # An interrupt may come before anybody waits for it. Without the folder it would stay for ever.
        end_with_folder = weakref.finalize(folder, process.kill)
        output = os.fdopen(read_end, "rb")
        started = JvmProcess(process, output, archive, records, folder, end_with_folder)
        try:
            raise_interrupts()
        except BaseException:
            started.kill()
            raise
    return started


def _address_file(folder: tempfile.TemporaryDirectory[str]) -> Path:
    return Path(folder.name, "gateway")


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
