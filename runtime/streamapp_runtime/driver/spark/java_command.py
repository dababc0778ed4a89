"""The command that Spark's JVM begins with.

It is what Spark's launcher makes of the same settings, made without the JVM that the launcher runs in. The
folder of Spark's configuration comes behind the jars: an archive of classes serves only where jars come
first, and no jar holds a file that such a folder has.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from streamapp_runtime.driver.spark.jvm_options import USUAL_MEMORY

_OPENED: Final = (
    *(
        "java.base/java.lang",
        "java.base/java.lang.invoke",
        "java.base/java.lang.reflect",
        "java.base/java.io",
    ),
    *("java.base/java.net", "java.base/java.nio", "java.base/java.util"),
    "java.base/java.util.concurrent",
    *("java.base/java.util.concurrent.atomic", "java.base/jdk.internal.ref", "java.base/sun.nio.ch"),
    *("java.base/sun.nio.cs", "java.base/sun.security.action", "java.base/sun.util.calendar"),
    "java.security.jgss/sun.security.krb5",
)
_ADDED_MODULES: Final = "--add-modules=jdk.incubator.vector"
_MODULE_OPTIONS: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    _ADDED_MODULES,
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)
"""Those of Spark's JavaModuleOptions."""
ARCHIVE_MODULES: Final = (_ADDED_MODULES,)
"""Those of them that decide which classes an archive may hold."""

_LAUNCHER_VARIABLES: Final = (
    *("PYSPARK_SUBMIT_ARGS", "SPARK_SUBMIT_OPTS", "SPARK_PREPEND_CLASSES", "SPARK_TESTING", "SPARK_MEM"),
    *("SPARK_DRIVER_MEMORY", "SPARK_DIST_CLASSPATH", "HADOOP_CONF_DIR", "YARN_CONF_DIR"),
    *("PYSPARK_DRIVER_PYTHON_OPTS", "SPARK_LAUNCHER_OPTS"),
)
_LAUNCHER_SETTINGS: Final = ("spark.driver.extraClassPath", "spark.driver.extraLibraryPath", "spark.remote")
"""What only the launcher is left to understand."""
_DEFAULTS: Final = "spark-defaults.conf"
_CORE: Final = re.compile(r"/spark-core_([0-9.]+)-[^/]*\.jar$")


@cache
def spark_jars(folder: Path) -> tuple[str, ...]:
    """The jars of a Spark by their real paths, always in the same order: archives depend on it."""
    return tuple(sorted(str(file.resolve()) for file in folder.glob("*.jar")))


def scala_version(jars: Sequence[str]) -> str:
    """The Scala that Spark was built for, as the name of its core has it."""
    return next(match[1] for jar in jars if (match := _CORE.search(jar)))


def default_settings(environment: Mapping[str, str]) -> Mapping[str, str] | None:
    """The settings of `spark-defaults.conf`; None where only the launcher can read it."""
    folder = environment.get("SPARK_CONF_DIR")
    file = Path(folder, _DEFAULTS) if folder else None
    if file is None or not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8", errors="replace")
    if "\\" in text:
        return None
    lines = (line.strip() for line in text.splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line and line[0] not in "#!")
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}


def known_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings over those of `spark-defaults.conf`, as far as that can be read here."""
    return {**(default_settings(os.environ) or {}), **settings}


def driver_command(
    java: str,
    jars: Sequence[str],
    settings: Mapping[str, str],
    environment: Mapping[str, str],
    archive_options: Sequence[str] = (),
) -> list[str] | None:
    """The command of a driver's JVM; None where only Spark's launcher can make it."""
    defaults = default_settings(environment)
    folder = environment.get("SPARK_CONF_DIR", "")
    if defaults is None or any(environment.get(name) for name in _LAUNCHER_VARIABLES):
        return None
    if folder and any(Path(folder, name).exists() for name in ("spark-env.sh", "java-opts")):
        return None
    known = {**defaults, **settings}
    if any(known.get(name) for name in _LAUNCHER_SETTINGS):
        return None
    options = [
        *shlex.split(known.get("spark.driver.defaultJavaOptions", "")),
        *shlex.split(known.get("spark.driver.extraJavaOptions", "")),
    ]
    class_path = os.pathsep.join([*jars, folder] if folder else jars)
    memory = known.get("spark.driver.memory") or USUAL_MEMORY
    confs = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    return [
        *(java, "-cp", class_path, f"-Xmx{memory}"),
        *options,
        *_MODULE_OPTIONS,
        *archive_options,
        *("org.apache.spark.deploy.SparkSubmit", *confs, "pyspark-shell"),
    ]
