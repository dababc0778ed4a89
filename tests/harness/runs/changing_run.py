"""A run with executors of its own, changed from outside while records keep coming."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_runtime.cli.scale import scale
from streamapp_runtime.crash_points import VARIABLE
from tests.harness.machine.app_processes import kill, victims
from tests.harness.machine.thread_beside import thread_beside
from tests.harness.runs.app_runs import Row
from tests.harness.runs.run_process import COMMAND

PATIENCE_SECONDS = 400.0
REPOSITORY = Path(__file__).parents[3]

Said = dict[str, Any]


@dataclass(slots=True)
class Outside:
    """`streamapp run` as its users see it."""

    folder: Path
    process: subprocess.Popen[str]
    said: list[Said] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)
    ear: threading.Thread | None = None

    @classmethod
    def start(cls, folder: Path, app: StreamApp, processors: int, *more: str) -> "Outside":
        (folder / "app.yaml").write_text(yaml.safe_dump(as_data(app)), "utf-8")
        (folder / "points").mkdir()
        options = ["--data", folder / "data", "--processors", str(processors), "--log-format", "json", *more]
        command = [COMMAND, "run", folder / "app.yaml", *options]
        env = os.environ | {VARIABLE: str(folder / "points")}
        env["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), env.get("PYTHONPATH", "")])
        run = cls(folder, subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env))
        run.ear = threading.Thread(target=run._hear, daemon=True)
        run.ear.start()
        return run

    def until(self, wanted: Callable[[Said], bool], since: int = 0) -> int:
        """Wait until it says something; how much it had said by then."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self.news:
            while True:
                for place, said in enumerate(self.said[since:], since):
                    if wanted(said):
                        return place + 1
                if not self.news.wait(deadline - time.monotonic()) or self.process.poll() is not None:
                    raise AssertionError(f"it did not say so: {self.said[-15:]}")

    def until_so(self, done: Callable[[], bool]) -> None:
        """Wait for something that it brings about and does not say."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self.news:
            while not done():
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise AssertionError(f"it did not come to pass: {self.said[-15:]}")
                self.news.wait(0.2)

    def scale(self, processors: int) -> None:
        arguments = [str(self.folder / "app.yaml"), str(processors), "--data", str(self.folder / "data")]
        result = CliRunner().invoke(scale, arguments)
        assert result.exit_code == 0, result.output

    def executors(self) -> list[int]:
        return victims(self.folder / "points")["executor"]

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """Leave nothing behind, however it went."""
        for pids in victims(self.folder / "points").values():
            for pid in pids:
                kill(pid)
        self.process.wait()
        if self.ear is not None and self.process.stderr is not None:
            self.ear.join()
            self.process.stderr.close()

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self.news:
                self.said.append(json.loads(line) if line.startswith("{") else {"noise": line})
                self.news.notify_all()
        with self.news:
            self.news.notify_all()


@dataclass(slots=True)
class Feeder:
    """Writes the numbers of all users, one round after the other, until it is told to stop."""

    write: Callable[[list[Row]], None]
    users: int
    rounds: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def feed(self) -> None:
        while not self._stop.wait(0.25):
            self.one()

    def one(self) -> None:
        self.write([{"user": f"u{user}", "n": self.rounds} for user in range(self.users)])
        self.rounds += 1

    @contextmanager
    def feeding(self) -> Iterator[None]:
        self._stop.clear()
        with thread_beside(self.feed, self._stop):
            yield


def changed(kind: str, processors: int | None = None) -> Callable[[Said], bool]:
    """Whether it says that something changed, to so many processors."""

    def matches(said: Said) -> bool:
        return (
            said.get("event") == "changed"
            and said["kind"] == kind
            and (processors is None or len(said["tasks"]) == processors)
        )

    return matches


def progress(said: Said) -> bool:
    """A batch with rows was counted."""
    return said.get("event") == "progress" and said["rowsInPerSecond"] > 0


def idle(said: Said) -> bool:
    return said.get("event") == "idle"
