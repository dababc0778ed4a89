"""The page views app on a broker: run as a child of the tests, its topics, and what it has to write."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from streamapp_runtime.crash_points import VARIABLE
from tests.harness.kafka.topic_records import committed, create, produce
from tests.harness.machine.app_processes import victims

COMMAND = Path(sys.executable).with_name("streamapp")
LIMIT_SECONDS = 420.0
_READ_SECONDS = 30.0  # a partition's next leader takes a moment to know how far its followers are
USERS = 40
PARTITIONS = 4


def app(
    address: str, name: str, *, delivery: str = "exactlyOnce", counted: bool = False, **kafka: Any
) -> dict[str, Any]:
    """Views by session, joined by user with a table; topics have the app's name before theirs.

    They may be `counted` by session as well, which is state with a changelog.
    """
    views = "session STRING, user STRING, page STRING, n INT"
    streams = [
        {"name": "views", "topic": f"{name}.views", "key": "session", "columns": views},
        {"name": "users", "topic": f"{name}.users", "key": "user", "columns": "user STRING, country STRING"},
        {"name": "enriched", "topic": f"{name}.enriched", "key": "user"},
    ]
    joined = {"from": "by-user", "table": "users", "select": "user, n, country"}
    spec = {
        "applicationId": f"{name}.app",
        "delivery": delivery,
        "systems": [{"name": "main", "kafka": {"bootstrapServers": address, **kafka}}],
        "streams": [{"system": "main", **stream} for stream in streams],
        "tables": [{"name": "users", "sideInputs": [{"stream": "users", "bootstrap": True}]}],
        "operators": [
            {"name": "real", "filter": {"from": "views", "where": "page NOT LIKE '/health%'"}},
            {"name": "by-user", "partitionBy": {"from": "real", "key": "user"}},
            {"name": "joined", "joinTable": joined},
            {"name": "out", "sendTo": {"from": "joined", "stream": "enriched"}},
        ],
    }
    if counted:
        totals = {"from": "real", "key": "session", "aggregates": "count(*) AS views, sum(n) AS total"}
        spec["streams"].append(
            {"name": "totals", "system": "main", "topic": f"{name}.totals", "key": "session"}
        )
        spec["operators"] += [
            {"name": "counted", "aggregate": totals},
            {"name": "sums", "sendTo": {"from": "counted", "stream": "totals"}},
        ]
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "page-views", "namespace": "tests"},
        "spec": spec,
    }


@dataclass(slots=True)
class PageViews:
    """One such app with its topics."""

    address: str
    name: str
    folder: Path
    delivery: str = "exactlyOnce"
    counted: bool = False
    written: int = 0
    process: subprocess.Popen[str] | None = None

    def prepare(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.say()
        (self.folder / "points").mkdir(exist_ok=True)
        create(self.address, {f"{self.name}.views": PARTITIONS, f"{self.name}.users": PARTITIONS})
        users = ({"user": f"user-{number}", "country": f"c{number % 7}"} for number in range(USERS))
        produce(self.address, f"{self.name}.users", users, "user")

    def say(self) -> None:
        """Write down what the app is."""
        said = app(self.address, self.name, delivery=self.delivery, counted=self.counted)
        (self.folder / "app.yaml").write_text(yaml.safe_dump(said))

    def view(self, count: int) -> None:
        """So many views more."""
        produce(self.address, f"{self.name}.views", self.views(self.written, self.written + count), "session")
        self.written += count

    def views(self, start: int, end: int) -> Iterable[dict[str, Any]]:
        for n in range(start, end):
            page = "/health" if n % 5 == 0 else "/a"
            yield {"session": f"s{n % 17}", "user": f"user-{n % USERS}", "page": page, "n": n}

    def expected(self) -> list[int]:
        return [n for n in range(self.written) if n % 5]

    def start(self, *options: str) -> None:
        with (self.folder / "log.txt").open("a") as log:
            self.process = subprocess.Popen(
                [COMMAND, "run", self.folder / "app.yaml", "--data", self.folder / "data", *options],
                env={**os.environ, VARIABLE: str(self.folder / "points")},
                stderr=log,
                stdout=log,
                text=True,
            )

    def victims(self) -> dict[str, list[int]]:
        return victims(self.folder / "points")

    def crash_at(self, point: str) -> Path:
        """Have the process that next comes to this point die there; the file goes when it does."""
        file = self.folder / "points" / point
        file.touch()
        return file

    def until(self, wanted: Callable[[], bool]) -> None:
        """Wait for something that the running app brings about."""
        assert self.process is not None
        ends = time.monotonic() + LIMIT_SECONDS
        while not wanted():
            if self.process.poll() is not None:
                raise AssertionError(f"the app ended:\n{self.said()}")
            if time.monotonic() > ends:
                raise AssertionError(f"it did not come to pass:\n{self.said()}")
            time.sleep(0.2)

    def said(self) -> str:
        return (self.folder / "log.txt").read_text()

    def end(self) -> int:
        """Let it come to its own end."""
        assert self.process is not None
        return self.process.wait(LIMIT_SECONDS)

    def kill(self) -> None:
        """End every process of the app as a loss of power would."""
        for pids in self.victims().values():
            for pid in pids:
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    continue
        if self.process is not None:
            self.process.wait(LIMIT_SECONDS)

    def output(self) -> list[dict[str, Any]]:
        return committed(self.address, f"{self.name}.enriched")

    def size(self) -> int:
        """How much a reader of committed records finds; nothing where there is no output yet."""
        try:
            return len(self.output())
        except KeyError:
            return 0

    def checked(self) -> None:
        """Each view once, in the input as in the output, there with its user's country; nothing else."""
        expected, ends = self.expected(), time.monotonic() + _READ_SECONDS
        written, rows = self.to_be_read(), self.output()
        while min(len(written), len(rows)) < len(expected) and time.monotonic() < ends:
            written, rows = self.to_be_read(), self.output()
        assert unequal_counts(written, expected) == {}, "the input is not what the test wrote"
        assert unequal_counts(rows, expected) == {}
        assert all(row["country"] == f"c{row['n'] % USERS % 7}" for row in rows)

    def to_be_read(self) -> list[dict[str, Any]]:
        """The views in the topic that the app reads, but for those that it leaves out."""
        views = committed(self.address, f"{self.name}.views")
        return [view for view in views if not view["page"].startswith("/health")]


def unequal_counts(rows: Iterable[dict[str, Any]], expected: Iterable[int]) -> dict[int, int]:
    """Which numbers are not there as often as they should be: by number, how often they are."""
    times, wanted = Counter(row["n"] for row in rows), Counter(expected)
    return {n: times[n] for n in times.keys() | wanted.keys() if times[n] != wanted[n]}


def said_json(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
