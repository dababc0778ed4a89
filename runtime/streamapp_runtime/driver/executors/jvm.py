"""Spark's JVM: started apart from the terminal, and quiet on it.

It gets a session of its own, so that an interrupt at the terminal reaches this process alone, which ends its
batch first. The JVM ends when this process does, however that happens: it reads a pipe that closes then.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from streamapp_runtime.driver.executors import spark_home
from streamapp_runtime.driver.executors.jit_options import LATE_COMPILATION
from streamapp_runtime.driver.executors.spark_output import SPARK_OUTPUT

LOGGING: Final = Path(__file__).with_name("log4j2.properties")
MINIMUM_JAVA: Final = 17
JAVA_NEEDED: Final = f"Spark needs Java {MINIMUM_JAVA} or newer"
MOST_OUTPUT: Final = 1_000
"""Characters of its last words."""


class JavaMissingError(Exception):
    """There is no Java that Spark could run on; the message says what there is."""


class JvmFailedError(Exception):
    """Java is there, and Spark's JVM ended at its start; the message has its last words."""


def start_jvm(settings: Iterable[tuple[str, str]]) -> None:
    """Start the JVM of this process, unless it has one; JavaMissingError or JvmFailedError if it fails."""
    SPARK_OUTPUT.mute(False)
    if SparkContext._gateway is not None:  # noqa: SLF001 - Spark has no other way to be asked
        return
    java = _java()
    spark_home.prepare_spark_home()
    options = f"-Dlog4j2.configurationFile={LOGGING.as_uri()} {LATE_COMPILATION}"
    conf = SparkConf(loadDefaults=False).setAll([*settings, ("spark.driver.defaultJavaOptions", options)])
    read_end, write_end = os.pipe()
    options_of_process = {"stderr": write_end, "start_new_session": True}
    launch: Any = launch_gateway  # made without types
    output = os.fdopen(read_end, "rb")
    try:
        gateway = launch(conf, options_of_process)
    except PySparkRuntimeError as error:
        os.close(write_end)
        with output:
            raise _failed(java, output.read().decode(errors="replace")) from error
    os.close(write_end)
    Thread(target=_pass_on, args=(output,), daemon=True).start()
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - nor to be given a gateway


def mute_jvm() -> None:
    """From now on nothing is passed on: what is still at work when Spark ends says that it was cut off."""
    SPARK_OUTPUT.mute(True)


def _java() -> str:
    """The Java that Spark's own scripts would take."""
    java_home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(java_home, "bin")) if java_home else None)
    if java is None:
        where = f"in JAVA_HOME, which is {java_home}" if java_home else "on the PATH"
        raise JavaMissingError(f"{JAVA_NEEDED}, and there is no java {where}: install it, or set JAVA_HOME")
    return java


def _failed(java: str, words: str) -> Exception:
    """Whether it is for want of a newer Java: that no further try mends."""
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
