"""The Spark home of this process: the installed Spark and the engine's own jar, in a folder of the process.

Spark's executors on one machine work in `work` below that folder, and an installation need not be writable.
"""

import atexit
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from streamapp_runtime.driver.spark.expression_jar import expression_jar

VARIABLE = "SPARK_HOME"
_PREFIX = "streamapp-spark-"


def prepare_spark_home() -> None:
    """Make the folder, unless a Spark of the user's own is named; it goes when this process ends."""
    if VARIABLE in os.environ:
        return
    pyspark = find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        return  # starting Spark will say so
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for part in ("bin", "python"):
        source = Path(pyspark.origin).with_name(part)
        if source.exists():
            folder.joinpath(part).symlink_to(source)
    _link_jars(Path(pyspark.origin).with_name("jars"), folder / "jars")
    os.environ[VARIABLE] = str(folder)


def _link_jars(installed: Path, folder: Path) -> None:
    folder.mkdir()
    for jar in installed.glob("*.jar"):
        folder.joinpath(jar.name).symlink_to(jar)
    own_jar = expression_jar(installed)
    if own_jar is not None and own_jar.parent != installed:
        folder.joinpath(own_jar.name).symlink_to(own_jar)


def own_jars() -> Path | None:
    """The jars of the installed Spark; None where the user has named a Spark."""
    home = Path(os.environ.get(VARIABLE, ""))
    return home / "jars" if home.name.startswith(_PREFIX) and home.joinpath("jars").is_dir() else None
