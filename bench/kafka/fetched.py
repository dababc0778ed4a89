"""What others run on, fetched once by Maven and pip and kept under ~/.cache/streamapp/bench."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PYSPARK = "4.2.0"
"""The newest version that has a source for Kafka in the registries."""


class MissingError(Exception):
    """Something cannot be had on this machine; the message says what."""


def classes(name: str) -> str:
    """The class path of the Java programs in a folder here, compiled with the jars of its pom."""
    jars, folder = _jars(name), HERE / name
    compiled, sources = jars / "classes", sorted([*HERE.glob("*.java"), *folder.glob("*.java")])
    stamp = compiled / "sources"
    text = "".join(source.read_text("utf-8") for source in sources)
    if not stamp.exists() or stamp.read_text("utf-8") != text:
        _run(["javac", "-cp", f"{jars}/*", "-d", str(compiled), *map(str, sources)])
        stamp.write_text(text, "utf-8")
    return f"{compiled}:{folder}:{jars}/*"


def spark() -> tuple[Path, str]:
    """A Python with that PySpark, and the jars of its source for Kafka, comma between them."""
    jars = _jars("spark")
    home = _cache() / f"pyspark-{PYSPARK}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        shutil.rmtree(home, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(home)])
        wanted = [f"pyspark=={PYSPARK}", "pandas>=2.2,<3", "pyarrow>=18", "protobuf>=6"]
        _run([str(python), "-m", "pip", "install", "--quiet", *wanted])
        (home / "ready").touch()
    kept = sorted(jar for jar in jars.glob("*.jar") if "kafka" in jar.name or "commons-pool" in jar.name)
    return python, ",".join(map(str, kept))


def _jars(name: str) -> Path:
    """The jars that a pom names; renamed when complete."""
    pom = HERE / name / "pom.xml"
    home = _cache() / f"{name}-jars"
    stamp = home / "pom.xml"
    if stamp.exists() and stamp.read_text() == pom.read_text():
        return home
    shutil.rmtree(home, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=_cache()) as unfinished:
        target = Path(unfinished, "jars")
        _run(
            ["mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
        )
        (target / "pom.xml").write_text(pom.read_text())
        target.rename(home)
    return home


def _cache() -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = caches / "streamapp" / "bench"
    found.mkdir(parents=True, exist_ok=True)
    return found


def _run(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        raise MissingError(f"there is no {command[0]} here")
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - tools by name
    if ended.returncode:
        raise MissingError(f"{command[0]} failed: {(ended.stdout + ended.stderr)[-2000:]}")
