"""A driver that the operator made runs as a process, and takes up each edit that needs no restart."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.report import Report, State
from streamapp_operator.objects.driver_pod import incarnation_of
from streamapp_runtime.systems.embedded.log import EmbeddedSystem
from tests.control_plane.deciding.kubelet import contained
from tests.control_plane.deciding.stage import Stage
from tests.control_plane.processes import until

PATIENCE_SECONDS = 240.0
LIVE: dict[str, dict[str, Any]] = {
    "spec.batch.rows": {"batch": {"rows": 7}},
    "spec.rebalanceDelay": {"rebalanceDelay": "1s"},
    "spec.executor.startTimeout": {"executor": {"startTimeout": "9s"}},
    "spec.partitionSettle": {"partitionSettle": "1s"},
    "spec.placement.hostAffinity": {"placement": {"hostAffinity": False}},
    "spec.restartPolicy.backoff": {"restartPolicy": {"backoff": "1s"}},
    "spec.onPartitionChange": {"onPartitionChange": "live"},
    "spec.takeOver": {"takeOver": True},
    "spec.config.job.control.interval": {"config": {"job.control.interval": "5"}},
    "spec.ttlSecondsAfterFinished": {"ttlSecondsAfterFinished": 9},
    "spec.monitor.interval": {"monitor": {"interval": "1s"}},
}


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
    """A stage on which the driver is a process."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage, self.folder = stage, folder
        (folder / "state").mkdir()
        self.log = EmbeddedSystem(folder / "state")
        self.log.create("lines", 1)
        stage.apply(copying())
        stage.settle()
        self.child = contained(stage, stage.begin(), folder)

    def report(self) -> Report:
        return self.stage.reported()

    def comes_to(self, state: State, generation: int) -> None:
        def there() -> bool:
            if "data" not in self.stage.config_map("app-report"):
                return False
            report = self.report()
            return (report.state, report.generation) == (state, generation)

        until(there, PATIENCE_SECONDS, self.child)
        self.stage.settle()

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.child.said().splitlines() if line.startswith("{")]


@pytest.fixture
def acted(stage: Stage, tmp_path: Path) -> Iterator[Acted]:
    made = Acted(stage, tmp_path)
    with made.child:
        yield made
    made.log.close()


def ready(stage: Stage) -> tuple[str, int]:
    found = stage.condition("Ready")
    return found["status"], found["observedGeneration"]


def test_each_live_edit_reaches_the_driver_which_goes_on(acted: Acted) -> None:
    stage = acted.stage
    acted.comes_to(State.RUNNING, 1)
    assert ready(stage) == ("True", 1)
    acted.log.grow("lines", 3)
    for generation, (path, edit) in enumerate(LIVE.items(), start=2):
        assert acted.report().counts["lines"] == 1  # whoever looks once an hour has not seen it yet
        stage.edit(**edit)
        stage.settle()
        acted.comes_to(State.RUNNING, generation)
        assert ready(stage) == ("True", generation)
        edits = [one["message"] for one in acted.said() if one.get("kind") == "spec"]
        assert edits[-1] == f"generation {generation}: {path} changed"
    until(lambda: acted.report().counts["lines"] == 3, PATIENCE_SECONDS, acted.child)
    assert incarnation_of(stage.driver()) == 1
    assert acted.report().incarnation == 1


def test_the_generation_that_runs_is_the_one_that_the_driver_goes_by(stage: Stage) -> None:
    stage.apply(copying())
    stage.settle()
    stage.begin()
    stage.report(generation=1)
    stage.settle()
    stage.edit(batch={"rows": 7})
    stage.settle()
    assert ready(stage) == ("True", 1)
    assert stage.says("Progressing") == ("True", "SpecChanged")
    stage.report(generation=2)
    stage.settle()
    assert ready(stage) == ("True", 2)
    assert stage.says("Progressing") == ("False", "Stable")
