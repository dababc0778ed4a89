"""A driver that the operator made, as a process that reads one stream and writes another."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import Any

from streamapp.protocol.driver_report import DriverState, Report
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, texts, write
from tests.harness.machine.processes import until
from tests.harness.operator.driver_kubelet import contained
from tests.harness.operator.operator_sim import OperatorSim

LINES = TopicPartition("lines", 0)
PATIENCE_SECONDS = 240.0


def copying() -> dict[str, Any]:
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "app"},
        "spec": {
            "systems": [{"name": "main", "embedded": {"path": "./data"}}],
            "streams": [
                {"name": "lines", "system": "main", "columns": "text STRING"},
                {"name": "copied", "system": "main"},
            ],
            "operators": [{"name": "out", "sendTo": {"from": "lines", "stream": "copied"}}],
            "monitor": {"interval": "1h"},
        },
    }


class Acted:
    """A simulation whose driver is a process, and the next driver another process on the same volume."""

    def __init__(self, sim: OperatorSim, folder: Path, app: dict[str, Any], metrics_port: int = 0) -> None:
        self.sim, self.folder = sim, folder
        (folder / "state").mkdir()
        self.log = EmbeddedSystem(folder / "state")
        self.log.create("lines", 1)
        sim.apply(app)
        sim.settle()
        self.child = contained(sim, sim.begin(), folder, metrics_port=metrics_port)

    def replace(self) -> None:
        """The kubelet ends the driver that the operator has deleted, and begins the one made then."""
        before = self.child
        before.signal(SIGTERM)
        assert before.wait(PATIENCE_SECONDS) == 0
        self.sim.remove(self.sim.names("pods")[0])
        self.sim.settle()
        pod = self.sim.begin()
        (self.folder / pod).mkdir()
        (self.folder / pod / "state").symlink_to(self.folder / "state")
        self.child = contained(self.sim, pod, self.folder / pod)

    def count(self, text: str, times: int) -> None:
        """One line more, and the number of times that it has been seen with it."""
        key = text.encode()
        write(self.log, LINES, batch([(key, json.dumps({"text": text}).encode(), 0)]))

        def last() -> int:
            if not self.log.partitions("copied"):
                return 0
            said = [json.loads(one) for one in texts(self.log, TopicPartition("copied", 0))]
            return int(said[-1]["times"]) if said else 0

        until(lambda: last() == times, PATIENCE_SECONDS, self.child)

    def report(self) -> Report:
        return self.sim.reported()

    def comes_to(self, state: DriverState, generation: int) -> None:
        def there() -> bool:
            if "data" not in self.sim.config_map("app-report"):
                return False
            report = self.report()
            return (report.state, report.generation) == (state, generation)

        until(there, PATIENCE_SECONDS, self.child)
        self.sim.settle()

    def copies(self, text: str) -> None:
        """One line, and the row that the app makes of it."""
        write(self.log, LINES, batch([(b"k", json.dumps({"text": text}).encode(), 0)]))
        until(lambda: bool(texts(self.log, TopicPartition("copied", 0))), PATIENCE_SECONDS, self.child)

    def said(self) -> list[dict[str, Any]]:
        """What the driver itself has logged: the action, the message, and the values beside them."""
        lines = [json.loads(line) for line in self.child.said().splitlines() if line.startswith("{")]
        return [
            {"event": line["event.action"], "message": line["message"], **line.get("streamapp", {})}
            for line in lines
            if "event.action" in line
        ]


@contextmanager
def acting(sim: OperatorSim, folder: Path, app: dict[str, Any], *, metrics_port: int = 0) -> Iterator[Acted]:
    made = Acted(sim, folder, app, metrics_port)
    try:
        yield made
    finally:
        with made.child:
            made.log.close()
