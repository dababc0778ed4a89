"""The operator is killed after each single write; the next one always comes to the same end.

One driver, the same assignment, the same status: only the number of the driver may be higher, for a number
that was announced is not used again when nobody knows whether it was.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.mortal_cluster import KilledError, Mortal
from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.small_apps import join

_numbers = count(1)
GROWN = {"views": 16, "users": 8}


@dataclass(frozen=True, slots=True)
class Scene:
    """What leads up to the moment, what happens then, and what helps it on while pods are ending."""

    before: Callable[[Stage], None]
    moment: Callable[[Stage], None]


def _nothing(_: Stage) -> None:
    pass


def _running(stage: Stage) -> None:
    stage.bring_up(join())
    stage.pass_time(60)


def _fails(stage: Stage) -> None:
    stage.end(code=3)
    stage.pass_time(10)


def _grows(stage: Stage) -> None:
    stage.report(counts=GROWN)
    stage.table.answer = type(stage.table.answer)({**GROWN, "enriched": 8})


SCENES = {
    "launch": Scene(_nothing, lambda stage: stage.apply(join())),
    "restart": Scene(_running, _fails),
    "expansion": Scene(_running, _grows),
    "edit": Scene(_running, lambda stage: stage.edit(restartNonce=1)),
    "live edit": Scene(_running, lambda stage: stage.edit(processors=3)),
    "suspend": Scene(_running, lambda stage: stage.edit(suspend=True)),
}


def play(server: ApiServer, scene: Scene, writes: int) -> tuple[dict[str, Any], int]:
    """How it ends when the operator dies after so many writes, and how many it made."""
    namespace = f"killed-{next(_numbers)}"
    server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    stage = Stage(server, namespace)
    try:
        scene.before(stage)
        scene.moment(stage)
        stage.mortal = Mortal(stage.cluster, writes)
        mortal = stage.mortal
        try:
            _on_to_the_end(stage)
        except KilledError:
            stage.restart()
            _on_to_the_end(stage)
        return _end(stage), mortal.written
    finally:
        stage.close()


def _on_to_the_end(stage: Stage) -> None:
    """Reconcile, and let time pass and pods end, until nothing changes any more."""
    for _ in range(4):
        stage.settle()
        assert len(_working(stage)) <= 1
        stage.pass_time(5)
        for pod in stage.drivers():
            if pod["metadata"].get("deletionTimestamp"):
                stage.remove(pod["metadata"]["name"])


def _working(stage: Stage) -> list[str]:
    return [pod["metadata"]["name"] for pod in stage.drivers()]


def _end(stage: Stage) -> dict[str, Any]:
    status = stage.status()
    number = str(status["driver"]["incarnation"])
    text = json.dumps(
        {
            "drivers": _working(stage),
            "assignment": stage.model().assignment(),
            "status": {**status, "driver": {**status["driver"], "uid": "", "incarnation": 0}},
        }
    )
    text = re.sub(r'"lastTransitionTime": "[^"]*"', '"lastTransitionTime": ""', text)
    text = re.sub(
        r'"(endedAt|startedAt|runId|hash)": "[^"]*"', '"of this run": ""', text
    )  # made of the uid, or of the time
    found: dict[str, Any] = json.loads(text.replace(f"driver-{number}", "driver-N"))
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "launch" else pytest.mark.long) for name in SCENES]
)
def test_the_next_operator_comes_to_the_same_end(api_server: ApiServer, name: str) -> None:
    undisturbed, writes = play(api_server, SCENES[name], 10_000)
    assert writes > 1
    for after in range(1, writes + 1):
        killed, _ = play(api_server, SCENES[name], after)
        assert killed == undisturbed, f"killed after write {after} of {writes}"
