"""The jars of Apache Kafka, got by Maven once: `python -m tests.harness.kafka.jars`."""

import shutil
import subprocess
from functools import partial
from pathlib import Path

from tests.harness.machine.fetched_folder import fetched_folder

NEWEST = "4.3.0"
"""The release of brokers that run from a test's beginning to its end."""
TO_BE_KILLED = "4.0.2"
"""The release of brokers that tests kill.

A broker of 4.1.0 to 4.4.0 leaves out the end of a transaction in partitions that have no leader at the
moment, as those with one replica while their broker starts. Nobody reads past such a transaction, and what
was aborted may come back (KAFKA-20734, docs/decisions/0095).
"""
_POM = Path(__file__).with_name("pom.xml")


class NoKafkaError(Exception):
    """This machine cannot run a broker; the message says what it lacks."""


def jars(release: str = NEWEST, pom: Path = _POM, kind: str = "") -> Path:
    """The folder of jars, fetched if it is not there; NoKafkaError where Java or Maven are missing.

    Those of another pom than the tests' own broker are kept beside them, as of another kind.
    """
    if shutil.which("java") is None:
        raise NoKafkaError("no Java 17 on this machine (Debian: apt-get install openjdk-17-jre-headless)")
    return fetched_folder(f"kafka/{release}{kind}", partial(_fetch, release, pom))


def _fetch(release: str, pom: Path, folder: Path) -> Path:
    maven = shutil.which("mvn")
    if maven is None:
        raise NoKafkaError("no Maven on this machine to fetch a broker with (Debian: apt-get install maven)")
    target = folder / "jars"
    goal = ("dependency:copy-dependencies", f"-DoutputDirectory={target}", f"-Dkafka.version={release}")
    run = subprocess.run(
        [maven, "-B", "-q", "-f", pom, *goal],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        words = (run.stdout + run.stderr).strip().splitlines() or ["it did not say why"]
        raise NoKafkaError(f"Maven could not fetch a broker: {words[0]}")
    return target


if __name__ == "__main__":
    for each in (NEWEST, TO_BE_KILLED):
        jars(each)
