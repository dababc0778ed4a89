"""The jar of the expression server, which executors load beside Spark's own.

Its source is Scala, which the compiler in Spark's own jars compiles: a Java without a compiler is enough. The
image has the jar among Spark's. Elsewhere it is made once for each Spark and kept in a cache.

    python -m streamapp_runtime.driver.spark.expression_jar
"""

import atexit
import hashlib
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from streamapp_runtime.driver.spark.class_archive import cache_folder
from streamapp_runtime.driver.spark.java_command import spark_jars
from streamapp_runtime.installed_java import find_java

PLUGIN: Final = "org.apache.spark.sql.streamapp.ExpressionPlugin"
IMAGE_NAME: Final = "streamapp-expressions.jar"
"""The name of the jar among Spark's own, in an image."""
_SOURCES: Final = Path(__file__).with_name("expression_server")
_COMPILER: Final = "scala.tools.nsc.Main"
_QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class ExpressionJarError(Exception):
    """The jar could not be made; the message has the compiler's words."""


def expression_jar(jars: Path) -> Path | None:
    """The jar for the Spark with these jars, made where it is missing; None where there is no Java."""
    if (of_image := jars / IMAGE_NAME).exists():
        return of_image
    java = find_java()
    if java is None:
        return None
    digest = hashlib.sha256()
    names = sorted(file.name for file in jars.glob("*.jar"))
    for part in (*names, *(file.read_text() for file in _sources())):
        digest.update(f"{part}\0".encode())
    name = f"expressions-{digest.hexdigest()[:24]}.jar"
    cache = cache_folder()
    if cache is not None and (made_before := cache / "jars" / name).exists():
        return made_before
    jar = _folder(cache) / name
    _make(java, jars, jar)
    return jar


def _folder(cache: Path | None) -> Path:
    """The folder of jars in the cache; one of this process's own where nothing can be kept."""
    if cache is not None:
        with suppress(OSError):
            folder = cache / "jars"
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.access(folder, os.W_OK):
                return folder
    own_folder = Path(tempfile.mkdtemp(prefix="streamapp-jars-"))
    atexit.register(shutil.rmtree, own_folder, ignore_errors=True)
    return own_folder


def _make(java: str, jars: Path, jar: Path) -> None:
    """Compile the server into a jar; it is whole, or not there."""
    with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
        made = Path(folder, jar.name)
        command = [java, *_QUICK, "-cp", os.pathsep.join(spark_jars(jars)), _COMPILER, "-usejavacp"]
        compiled = subprocess.run(  # noqa: S603 - Spark's compiler
            [*command, "-d", str(made), *map(str, _sources())],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if compiled.returncode:
            raise ExpressionJarError(
                "the expression server cannot be compiled against this Spark; where Spark was upgraded, "
                f"{_SOURCES.name} has to follow its classes:\n{compiled.stdout}{compiled.stderr}"
            )
        made.replace(jar)


def _sources() -> list[Path]:
    return sorted(_SOURCES.glob("*.scala"))


if __name__ == "__main__":
    if (pyspark := find_spec("pyspark")) and pyspark.origin:
        expression_jar(Path(pyspark.origin).with_name("jars"))
