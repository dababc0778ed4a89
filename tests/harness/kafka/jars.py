"""The jars of Apache Kafka, got by Maven once: `python -m tests.harness.kafka.jars`."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

_POM = Path(__file__).with_name("pom.xml")


class NoKafkaError(Exception):
    """This machine cannot run a broker; the message says what it lacks."""


def jars(pom: Path = _POM, kind: str = "") -> Path:
    """The folder of jars, fetched if it is not there; NoKafkaError where Java or Maven are missing.

    Those of another pom than the tests' own broker are kept beside them, as of another kind.
    """
    if shutil.which("java") is None:
        raise NoKafkaError("no Java 17 on this machine (Debian: apt-get install openjdk-17-jre-headless)")
    found = re.search(r"<version>(\d+\.\d+\.\d+)</version>", pom.read_text(encoding="utf-8"))
    assert found, "the first version of three numbers in pom.xml is Kafka's"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = caches / "streamapp" / "kafka" / f"{found[1]}{kind}"
    if not home.exists():
        _fetch(pom, home)
    return home


def _fetch(pom: Path, home: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise NoKafkaError("no Maven on this machine to fetch a broker with (Debian: apt-get install maven)")
    home.parent.mkdir(parents=True, exist_ok=True)
    # Renamed when complete, so that a fetch that was cut short is not taken for jars.
    with tempfile.TemporaryDirectory(dir=home.parent) as unfinished:
        target = Path(unfinished, "jars")
        run = subprocess.run(
            [maven, "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={target}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode != 0:
            words = (run.stdout + run.stderr).strip().splitlines() or ["it did not say why"]
            raise NoKafkaError(f"Maven could not fetch a broker: {words[0]}")
        try:
            target.rename(home)
        except OSError:
            if not home.exists():  # another process was faster
                raise


if __name__ == "__main__":
    jars()
