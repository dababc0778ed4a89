"""The operator is killed after each single write; the next one always comes to the same end.

One driver, the same assignment, the same status: only the number of the driver, and of the one that is to
follow it, may be higher, for a number that was announced is not used again when nobody knows whether it was.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.mortal_cluster import KilledError, Mortal
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

_numbers = count(1)
GROWN = {"views": 16, "users": 8}


@dataclass(frozen=True, slots=True)
class Scene:
    """What leads up to the moment, what happens then, and what helps it on while pods are ending."""

    before: Callable[[OperatorSim], None]
    moment: Callable[[OperatorSim], None]
    releases: bool = False  # whether drivers say that they have released their lanes before they are gone


def _nothing(_: OperatorSim) -> None:
    pass


def _running(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.pass_time(60)


def _fails(sim: OperatorSim) -> None:
    sim.end(code=3)
    sim.pass_time(10)


def _grows(sim: OperatorSim) -> None:
    sim.report(counts=GROWN)
    sim.table.answer = type(sim.table.answer)({**GROWN, "enriched": 8})


SCENES = {
    "launch": Scene(_nothing, lambda sim: sim.apply(join())),
    "restart": Scene(_running, _fails),
    "expansion": Scene(_running, _grows),
    "edit": Scene(_running, lambda sim: sim.edit(restartNonce=1)),
    "hand-over": Scene(_running, lambda sim: sim.edit(restartNonce=1), releases=True),
    "live edit": Scene(_running, lambda sim: sim.edit(processors=3)),
    "suspend": Scene(_running, lambda sim: sim.edit(suspend=True)),
}


def _real_sim(server: ApiServer) -> OperatorSim:
    namespace = f"killed-{next(_numbers)}"
    server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    return OperatorSim(server, namespace)


def play(sim: OperatorSim, scene: Scene, writes: int) -> tuple[dict[str, Any], int]:
    """How it ends when the operator dies after so many writes, and how many it made."""
    try:
        scene.before(sim)
        scene.moment(sim)
        sim.mortal = Mortal(sim.cluster, writes)
        mortal = sim.mortal
        try:
            _on_to_the_end(sim, scene)
        except KilledError:
            sim.restart()
            _on_to_the_end(sim, scene)
        return _end(sim), mortal.written
    finally:
        sim.close()


def _on_to_the_end(sim: OperatorSim, scene: Scene) -> None:
    """Reconcile, and let time pass and pods end, until nothing changes any more."""
    for _ in range(4):
        sim.settle()
        leaving = _names(filter(_is_leaving, sim.drivers()))
        assert len(sim.drivers()) <= 1 + (scene.releases and bool(leaving))
        sim.pass_time(5)
        for name in leaving:
            if scene.releases:
                sim.report(DriverState.ENDED, driver=name)
                sim.settle()
            sim.remove(name)


def _is_leaving(pod: dict[str, Any]) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _names(pods: Iterable[dict[str, Any]]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def _end(sim: OperatorSim) -> dict[str, Any]:
    status = sim.status()
    driver = status["driver"]
    number = str(driver["incarnation"])
    text = json.dumps(
        {
            "drivers": _names(sim.drivers()),
            "assignment": sim.model().assignment(),
            "status": {**status, "driver": {**driver, "uid": "", "incarnation": 0, "successor": 0}},
            "has a successor": driver.get("successor", 0) > driver["incarnation"],
        }
    )
    text = re.sub(r'"lastTransitionTime": "[^"]*"', '"lastTransitionTime": ""', text)
    text = re.sub(
        r'"(endedAt|startedAt|runId|hash)": "[^"]*"', '"of this run": ""', text
    )  # made of the uid, or of the time
    found: dict[str, Any] = json.loads(text.replace(f"driver-{number}", "driver-N"))
    return found


def _kill_after_each_write(begin: Callable[[], OperatorSim], scene: Scene) -> None:
    undisturbed, writes = play(begin(), scene, 10_000)
    assert writes > 1
    for after in range(1, writes + 1):
        killed, _ = play(begin(), scene, after)
        assert killed == undisturbed, f"killed after write {after} of {writes}"


@pytest.mark.parametrize("name", SCENES)
def test_the_next_operator_comes_to_the_same_end(name: str) -> None:
    _kill_after_each_write(OperatorSim.in_memory, SCENES[name])


def test_so_it_does_before_a_real_server(api_server: ApiServer) -> None:
    _kill_after_each_write(lambda: _real_sim(api_server), SCENES["launch"])
