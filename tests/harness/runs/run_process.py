"""An app that runs as a child of the tests, and what it says of itself."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from signal import SIGKILL
from typing import Any
from urllib.parse import urlsplit

from streamapp_runtime.crash_points import VARIABLE

COMMAND = Path(sys.executable).with_name("streamapp")
EXAMPLE = Path(__file__).parents[3] / "examples" / "country-views" / "app.yaml"
ENDS_SECONDS = 60.0

Said = dict[str, Any]


@dataclass(slots=True)
class Running:
    """`streamapp run` with --log-format json."""

    data: Path
    process: subprocess.Popen[str]
    said: list[Said] = field(default_factory=list)

    @classmethod
    def start(cls, data: Path, *options: str, env: Mapping[str, str] | None = None) -> "Running":
        command = [COMMAND, "run", EXAMPLE, "--data", data, "--processors", "1", "--log-format", "json"]
        environment = {**os.environ, **(env or {})}
        process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True, env=environment)
        return cls(data, process)

    def until(self, wanted: Callable[[Said], bool]) -> Said:
        """Hear it until it says something; every line has to be JSON."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(json.loads(line))
            if wanted(self.said[-1]):
                return self.said[-1]
        raise AssertionError(f"it ended and had only said {self.said}")

    def end(self, *signals: int) -> int:
        """Send signals, hear the rest, and give the exit code."""
        for number in signals:
            self.process.send_signal(number)
        out, err = self.process.communicate()
        assert not out
        self.said += [json.loads(line) for line in err.splitlines()]
        return self.process.returncode

    def children(self) -> list[int]:
        """The processes that it started: the JVM is one."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]


def run_killed_at(command: Sequence[str | Path], crashes: Path, point: str | None) -> None:
    """One run that is killed at a crash point, or comes to its end where none is named."""
    crashes.mkdir(exist_ok=True)
    if point is not None:
        (crashes / point).touch()
    environment = {**os.environ, VARIABLE: str(crashes)}
    ended = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == (0 if point is None else -SIGKILL), ended.stderr
    assert not any(crashes.iterdir())


def got(url: str, **headers: str) -> tuple[int, str, str]:
    """Status, kind and text of what an address of this machine gives."""
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port)
    try:
        connection.request("GET", where._replace(scheme="", netloc="").geturl(), headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


def ends(pidfd: int) -> bool:
    """Whether a process ends by itself before long."""
    try:
        return bool(select.select([pidfd], [], [], ENDS_SECONDS)[0])
    finally:
        os.close(pidfd)
