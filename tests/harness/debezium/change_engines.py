"""The engine of Debezium for PostgreSQL, and the records that it makes of changes, in several forms."""

import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from tests.harness.machine.fetched_folder import fetched_folder
from tests.harness.machine.left_out import leave_out
from tests.harness.machine.postgres_server import USER, PostgresDatabase

_HERE: Final = Path(__file__).parent
_FORMS: Final = ("json", "json-with-schema", "flattened", "avro")
_SETTINGS: Final = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "127.0.0.1",
    "database.user": USER,
    "database.password": USER,
    "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
    "plugin.name": "pgoutput",
    "publication.autocreate.mode": "filtered",
    "poll.interval.ms": "50",
    "skipped.operations": "none",
}


class Change(NamedTuple):
    """A record as it would stand in a topic."""

    topic: str
    key: bytes | None
    value: bytes | None


@dataclass(slots=True)
class ChangeEngines:
    """The engines that run, and what they have made of changes so far, by engine and form."""

    process: "subprocess.Popen[str]"
    engines: tuple[str, ...]
    changes: dict[tuple[str, str], list[Change]] = field(default_factory=dict)

    def read_snapshots(self, rows: int) -> None:
        """Read on until each engine has made so many records of each form."""
        while len(self.changes) < len(self.engines) * len(_FORMS) or any(
            len(each) < rows for each in self.changes.values()
        ):
            assert self._read_line(), "the engine has ended"

    def read_all(self) -> None:
        """Read until each engine has seen a row of the table "done"."""
        while self._read_line():
            pass
        assert self.process.wait() == 0

    def _read_line(self) -> bool:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            engine, form, topic, key, value = line.split()
            self.changes.setdefault((engine, form), []).append(Change(topic, _bytes(key), _bytes(value)))
        return bool(line)


@contextmanager
def change_engines(
    database: PostgresDatabase, engines: Mapping[str, Mapping[str, str]], registry: str
) -> Iterator[ChangeEngines]:
    """An engine of each name with these settings, over all tables; the URL is of Apicurio's own interface.

    Its name begins those of its topics: engines of one prefix wait for each other's metrics to go.
    """
    arguments = [registry]
    for name, more in engines.items():
        own = dict.fromkeys(("name", "slot.name", "publication.name", "topic.prefix"), name)
        own["database.dbname"] = database.name
        settings = _SETTINGS | own | {"database.port": str(database.server.port)} | more
        arguments += [name, ";".join(f"{setting}={value}" for setting, value in settings.items())]
    home = fetched_folder(f"debezium/{_version()}", _fetch)
    command = ["java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-cp", f"{home}:{home}/*", "ChangeEngine"]
    process = subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield ChangeEngines(process, tuple(engines))
    finally:
        process.kill()
        process.communicate()


def _bytes(text: str) -> bytes | None:
    return None if text == "-" else b64decode(text)


def _version() -> str:
    """The hash of what is compiled and fetched."""
    return sha256(
        b"".join((_HERE / name).read_bytes() for name in ("ChangeEngine.java", "pom.xml"))
    ).hexdigest()[:16]


def _fetch(folder: Path) -> Path:
    if shutil.which("mvn") is None or shutil.which("javac") is None:
        leave_out("no Maven or Java compiler to run Debezium with (Debian: apt-get install maven)")
    target = folder / "jars"
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    for command in (
        ["mvn", "-B", "-q", "-f", str(_HERE / "pom.xml"), *goal],
        ["javac", "-cp", f"{target}/*", "-d", str(target), str(_HERE / "ChangeEngine.java")],
    ):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            leave_out(f"{command[0]} failed for Debezium: {(run.stdout + run.stderr).strip()[:300]}")
    return target
