"""Whatever is killed or moved, queries of the state answer with what is committed, and with the newest of it.

Each answer is held against what the app has committed to its output before the query and after it.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.machine.app_processes import kill, victims
from tests.harness.runs.app_runs import app, inputs, read_all, write_all
from tests.harness.runs.changing_run import Feeder, Outside, changed, idle

PARTITIONS = 4
USERS = 8
USER_NAMES = tuple(f"u{user}" for user in range(USERS))
SECONDS = 60.0
STREAMS = [{"name": "events", "key": "user", "columns": "user STRING, n INT"}, {"name": "out", "key": "user"}]
OPERATORS = (
    {"name": "counted", "aggregate": {"from": "events", "aggregates": "count(*) AS rows"}},
    {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
)


@dataclass(slots=True)
class Asker:
    """Asks for one user after the other, and holds each answer against the output."""

    url: str
    system: EmbeddedSystem
    faults: list[str] = field(default_factory=list)
    answered: int = 0
    scanned: int = 0  # whole snapshots
    refused: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        number = 0
        while not self.stop.is_set():
            user = f"u{number % USERS}"
            number += 1
            before = self.committed(user)
            try:
                count = self.count(user)
            except HTTPError as error:
                self.refused.append(json.load(error)["error"])
                assert error.code == 503
                continue
            after = self.committed(user)
            if not before <= count <= after:
                self.faults.append(f"{user}: {count}, where {before} were committed before and {after} after")
            self.answered += 1
            if number % 4 == 0:
                self.scan()

    def scan(self) -> None:
        """Read a snapshot in pages: none has a row that was committed after the first was answered."""
        before = {user: self.committed(user) for user in USER_NAMES}
        after: dict[str, int] = {}
        counts: dict[str, int] = {}
        answer = {"next": "", "snapshot": "new"}
        while "next" in answer:
            page = f"counted?limit=3&snapshot={answer['snapshot']}&after={answer['next']}"
            try:
                answer = self.asked(page)
            except HTTPError as error:
                self.refused.append(json.load(error)["error"])
                assert error.code in {410, 503}
                return
            counts |= {row["key"]: row["row"]["count(*)"] for row in answer["rows"]}
            after = after or {user: self.committed(user) for user in USER_NAMES}
        for user in USER_NAMES:
            if not before[user] <= counts.get(user, 0) <= after[user]:
                self.faults.append(
                    f"{user}: {counts.get(user)} in a snapshot, {before[user]} before and {after[user]} after"
                )
        self.scanned += 1

    def asked(self, path: str) -> Any:
        with urlopen(f"{self.url}{path}", timeout=SECONDS) as response:  # noqa: S310 - http
            return json.load(response)

    def count(self, user: str) -> int:
        rows = self.asked(f"counted?key={user}")["rows"]
        assert len(rows) < 2
        return sum(row["row"]["count(*)"] for row in rows)

    def committed(self, user: str) -> int:
        rows = (record.value for record in read_all(self.system, "out") if record.key == user)
        return max((row["rows"] for row in rows), default=0)


@dataclass(slots=True)
class AskedApp:
    run: Outside
    asker: Asker
    feeder: Feeder

    def goes_on(self, more: int = 20) -> None:
        """Wait until so many more queries were answered, and some snapshots were read."""
        answered, scanned = self.asker.answered + more, self.asker.scanned + more // 10
        self.run.until_so(
            lambda: (
                (self.asker.answered >= answered and self.asker.scanned >= scanned) or bool(self.asker.faults)
            )
        )
        assert not self.asker.faults


@pytest.fixture
def asked_app(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[AskedApp]:
    """The app at work on two executors, and a thread that asks."""
    system = EmbeddedSystem(tmp_path / "data")
    for stream in ("events", "out"):
        system.create(stream, PARTITIONS)
    batch = {"independentLanes": request.param == "independent"}
    made = app(*OPERATORS, streams=STREAMS, processors=2, rebalanceDelay="1s", batch=batch)
    run = Outside.start(tmp_path, made, 2, "--state-queries")
    feeder = Feeder(lambda rows: write_all(system, "events", inputs(rows, "user"), PARTITIONS), USERS)
    try:
        run.until(idle)
        (url,) = [said["url"] for said in run.said if said.get("event") == "stateQueries"]
        asker = Asker(url, system)
        thread = threading.Thread(target=asker.ask)
        thread.start()
        try:
            with feeder.feeding():
                yield AskedApp(run, asker, feeder)
            run.until_so(lambda: all(asker.committed(f"u{user}") == feeder.rounds for user in range(USERS)))
        finally:
            asker.stop.set()
            thread.join()
        assert not asker.faults
        assert [asker.count(f"u{user}") for user in range(USERS)] == [feeder.rounds] * USERS
        assert run.end() == 0
    finally:
        run.close()
        system.close()


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("asked_app", ["independent", "together"], indirect=True)
@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_no_answer_has_a_row_that_is_not_committed_while_processes_are_killed(
    asked_app: AskedApp, victim: str
) -> None:
    for number in range(2):
        asked_app.goes_on()
        pids = victims(asked_app.run.folder / "points")[victim]
        kill(pids[number % len(pids)])
    asked_app.goes_on()


@pytest.mark.long
@pytest.mark.parametrize(
    "asked_app", ["independent", pytest.param("together", marks=pytest.mark.nightly)], indirect=True
)
def test_no_answer_has_a_row_that_is_not_committed_while_tasks_move(asked_app: AskedApp) -> None:
    for processors in (3, 1, 2):
        asked_app.goes_on()
        since = len(asked_app.run.said)
        asked_app.run.scale(processors)
        asked_app.run.until(changed("model", processors), since)
    asked_app.goes_on()
