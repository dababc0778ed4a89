"""Runs the app under load while its processes are killed, then compares what it wrote with the model."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from signal import SIGTERM
from threading import Event
from typing import Any

import yaml

from streamapp_runtime.crash_points import VARIABLE
from tests.harness.crash import view_model
from tests.harness.crash.attacks import FROZEN, LANE_CONNECTIONS, OF_BROKER, RESET, Attack
from tests.harness.crash.record_model import LETTER_STREAMS, RecordModel
from tests.harness.crash.view_feeder import known_users, streams_at
from tests.harness.crash.view_streams import Row, record_of
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import open_transactions
from tests.harness.machine.app_processes import kill, standing_still, victims, with_children
from tests.harness.machine.connections import reset_connections, shut_down_connections

ROOT = Path(__file__).parents[3]
APP = Path(__file__).with_name("app.yaml")
STEP_SECONDS = 0.05
FROZEN_BROKER_SECONDS = 4.0
LANE_SOCKETS = str(Path(tempfile.gettempdir()) / "streamapp-lanes-")
"""How the paths of the sockets begin at which a driver serves its lanes."""
PATIENCE_SECONDS = 500.0
LAST_LINES = 20
MOST_RECORDS_TO_A_POINT = 10_000
"""A point that so many records did not reach is not on the app's way now, and is given up."""
MAY_END_WITH = {-9, 0, 3}
"""Killed, asked to stop, or failed in a way that says: try again."""


class SiegeError(Exception):
    """The app did something that no kill excuses."""


def _without_spark(operators: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same operators, of which the app's own Python computes what Spark did."""
    for operator in operators:
        if operator["name"] != "agreed":
            yield operator
            continue
        met = {**operator["joinTable"], "select": "user, n, country, home"}
        python = "tests.harness.crash.view_code:agreed"
        columns = "user STRING, n BIGINT, country STRING"
        yield {"name": "met", "joinTable": met}
        yield {"name": "agreed", "map": {"from": "met", "python": python, "columns": columns}}


class LaneWay(StrEnum):
    """How the lanes of the app get their batches, and who computes its expressions."""

    EVALUATED = "evaluated"
    RESIDENT = "resident"
    INDEPENDENT = "independent"


class Siege:
    """One app under attack, in a folder of its own: on an embedded log, or on a broker that is hit too.

    A column of the app is Spark's to evaluate. With the other ways of lanes the app's own Python computes it.
    """

    def __init__(
        self,
        folder: Path,
        say: Callable[[str], None],
        broker: Broker | None = None,
        *,
        lanes: LaneWay = LaneWay.EVALUATED,
        address: str = "",
    ) -> None:
        """`address` is where the app reaches the broker, if that is not the broker's own."""
        self.folder, self.say, self.broker, self.lanes = folder, say, broker, lanes
        self.address = address or (broker.bootstrap if broker else "")
        self.points = folder / "points"
        self.points.mkdir(parents=True)
        self.data = folder / "data"
        self.said = (folder / "said.txt").open("ab")
        self.place = broker.bootstrap if broker else str(self.data)
        self.streams = streams_at(self.place)
        self.streams.create()
        self.users = known_users()
        self.streams.write("users", map(record_of, self.users))
        self.killed: Counter[str] = Counter()  # by kind of process, or by the point that it had reached
        self.set_aside: dict[str, int] = {}  # by stream: how many records had to be, in the end
        self.views: int | None = None  # how many were written, once the feeder has ended
        self.stops = 0  # how often the app was asked to end
        self.starts = 0
        self.processors = 0
        self.app: subprocess.Popen[bytes] | None = None

    def run(self, attacks: Iterable[Attack], seed: int, kills: int | None = None) -> list[str]:
        """Attacks until so many processes were killed, or all; what is wrong with the outputs at the end."""
        try:
            with self._feeder(seed):
                self._start(2)
                for attack in attacks:
                    self._attack(attack)
                    if kills is not None and self.killed.total() >= kills:
                        break
            self._wait_for_outputs()
            self._stop()
            return list(self._differences())
        finally:
            for pids in victims(self.points).values():
                for pid in pids:
                    kill(pid)
            if self.app is not None:
                self.app.wait()
            self.said.close()
            self.streams.close()

    def _attack(self, attack: Attack) -> None:
        goal = self._written() + attack.commits
        self._wait(f"{attack.commits} records", lambda: self._written() >= goal, attack)
        self._pass(attack.delay)
        attack = attack.on(self.processors)
        if attack.point:
            (self.points / attack.point).touch()
        if attack.victim == "stop":
            self._stop()
        elif attack.victim in OF_BROKER:
            self._hit_broker(attack.victim)
        elif attack.victim in LANE_CONNECTIONS:
            self._cut_off_lanes(attack.victim)
        elif attack.victim in FROZEN:
            self._freeze(attack)
        elif attack.victim:
            self._hit_process(attack)
        if attack.point:
            self._reach(attack)
        self.say(f"{self.killed.total():>4} killed: {attack}; {self._written():,} records written")
        self._keep_running(attack)

    def _hit_process(self, attack: Attack) -> None:
        """Kill a process of the app; its driver where there is none."""
        if chosen := self._chosen(attack.victim, attack.pick):
            kind, pid = chosen
            kill(pid)
            self.killed[kind] += 1

    def _freeze(self, attack: Attack) -> None:
        """Let a process of the app hold still for a while."""
        kind, least, most = FROZEN[attack.victim]
        if chosen := self._chosen(kind, attack.pick):
            kind, pid = chosen
            pids = with_children(self.points, pid) if kind == "executor" else [pid]
            with standing_still(pids):
                self._pass(least + attack.pick * (most - least))
            self.killed[f"frozen {kind}"] += 1

    def _cut_off_lanes(self, kind: str) -> None:
        """Shut down the connections between the driver and its lanes, as far as there are any now."""
        for pid in victims(self.points)["driver"]:
            if shut_down_connections(pid, LANE_SOCKETS, LANE_CONNECTIONS[kind]):
                self.killed[kind] += 1

    def _chosen(self, kind: str, pick: float) -> tuple[str, int] | None:
        """One of the processes of a kind; one of the driver's where there is none."""
        pids = victims(self.points)
        kind = kind if pids[kind] else "driver"
        return (kind, pids[kind][int(pick * len(pids[kind]))]) if pids[kind] else None

    def _hit_broker(self, kind: str) -> None:
        """Kill it and start it again, let it neither answer nor close connections, or reset them all."""
        assert self.broker is not None
        if kind == "broker":
            self.broker.kill()
            self.broker.start()
        elif kind == RESET:
            if not reset_connections(int(self.address.rpartition(":")[2])):
                self.say("left out: no connection can be reset here; that needs `ss` and its rights")
                return
        else:
            self.broker.freeze()
            self._pass(FROZEN_BROKER_SECONDS)
            self.broker.thaw()
        self.killed[kind] += 1

    def _reach(self, attack: Attack) -> None:
        """Wait until a process has ended at a point; after a while it is not waited for any longer."""
        point = self.points / attack.point
        goal = self._written() + MOST_RECORDS_TO_A_POINT
        self._wait(attack.point, lambda: not point.exists() or self._written() > goal, attack)
        if point.exists():
            point.unlink(missing_ok=True)
        else:
            self.killed[attack.point] += 1

    def _start(self, processors: int) -> None:
        command = [str(Path(sys.executable).with_name("streamapp")), "run", str(self._app())]
        options = ["--data", str(self.data), "--processors", str(processors), "--batch-rows", "2000"]
        environment = os.environ | {VARIABLE: str(self.points)}
        self.app = subprocess.Popen(
            [*command, *options],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.said,
            stderr=self.said,
        )
        self.starts += 1
        self.processors = processors

    def _app(self) -> Path:
        app = yaml.safe_load(APP.read_text("utf-8"))
        if self.broker is not None:
            app["spec"]["systems"] = [{"name": "main", "kafka": {"bootstrapServers": self.address}}]
        if self.lanes is not LaneWay.EVALUATED:
            app["spec"]["operators"] = list(_without_spark(app["spec"]["operators"]))
            app["spec"]["batch"] = {"independentLanes": self.lanes is LaneWay.INDEPENDENT}
        there = self.folder / APP.name
        there.write_text(yaml.safe_dump(app), "utf-8")
        return there

    def _stop(self) -> None:
        """Ask the app to finish its batch and end."""
        assert self.app is not None
        self.app.send_signal(SIGTERM)
        self._wait("the app to end", lambda: self.app is not None and self.app.poll() is not None)
        self.stops += 1

    def _keep_running(self, attack: Attack) -> None:
        """Start the app again if it has ended, at once: what it left may still be running."""
        assert self.app is not None
        status = self.app.poll()
        if status is None:
            return
        if status not in MAY_END_WITH:
            raise SiegeError(f"the app ended with {status} after {attack}: see {self.said.name}")
        self._start(attack.processors)

    def _wait(self, what: str, done: Callable[[], bool], attack: Attack | None = None) -> None:
        """Wait for something for as long as records are being written."""
        until, written = time.monotonic() + PATIENCE_SECONDS, 0
        while not done():
            if time.monotonic() > until:
                before, written = written, self._written()
                if written <= before:
                    raise SiegeError(f"waited too long for {what}: {self._last_words()}")
                until = time.monotonic() + PATIENCE_SECONDS
            if attack is not None:
                self._keep_running(attack)
            self._pass(STEP_SECONDS)

    def _written(self) -> int:
        return self.streams.size("enriched") + self.streams.size("totals")

    def _last_words(self) -> str:
        """What the app said last, and which transactions its broker has open."""
        lines = Path(self.said.name).read_text("utf-8", errors="replace").splitlines()[-LAST_LINES:]
        state = [open_transactions(self.broker.bootstrap)] if self.broker is not None else []
        return "\n".join([*state, *lines])

    def _wait_for_outputs(self) -> None:
        """Wait until nothing is missing, and leave the machine to the app meanwhile."""
        records = self._records()  # the feeder has ended: they stay what they are
        expected = view_model.model(self.users, records.views)
        written_at_last_look = -1

        def complete() -> bool:
            nonlocal written_at_last_look
            self._keep_running(Attack("end"))
            written = self._written() + sum(map(self.streams.size, LETTER_STREAMS))
            if written == written_at_last_look:
                return False
            written_at_last_look = written
            self._pass(0.5)
            return not records.missing(self._letters()) and not view_model.missing(expected, *self._outputs())

        self._wait("the outputs to be complete", complete)

    def _differences(self) -> Iterator[str]:
        records = self._records()
        self.set_aside = {stream: letters.total() for stream, letters in records.letters.items()}
        yield from view_model.differences(view_model.model(self.users, records.views), *self._outputs())
        yield from records.differences(self._letters())

    def _records(self) -> RecordModel:
        """What follows from the input, which has to be whole itself."""
        views = self.streams.records("views")
        if self.views not in {None, len(views)}:
            raise SiegeError(f"the input itself is not whole: {self.views} views were written")
        return RecordModel.of(views, self.streams.records("users"))

    def _rows(self, stream: str) -> list[Row]:
        return [json.loads(record.value or b"null") for record in self.streams.records(stream)]

    def _outputs(self) -> tuple[list[Row], list[Row]]:
        return self._rows("enriched"), self._rows("totals")

    def _letters(self) -> dict[str, list[Row]]:
        return {stream: self._rows(stream) for stream in LETTER_STREAMS}

    @contextmanager
    def _feeder(self, seed: int) -> Iterator[None]:
        # It shares the machine with the app, which must not fall behind for ever.
        command = [sys.executable, "-m", "tests.harness.crash.view_feeder", self.place, str(seed), "1.0"]
        feeder = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            yield
            self.views = int(feeder.communicate("")[0])
            self.say(f"{self.views} views were written")
        finally:
            feeder.kill()
            feeder.wait()

    @staticmethod
    def _pass(seconds: float) -> None:
        Event().wait(seconds)
