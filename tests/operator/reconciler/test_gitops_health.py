"""What Argo CD and Flux make of an app: the script of the guide in a real Lua, and the rules of kstatus."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from lupa import LuaRuntime

from streamapp_operator.reconciler.pause import PAUSE_ANNOTATION
from tests.harness.api_server.api_server import REPOSITORY, ApiServer
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

PAGE = (REPOSITORY / "docs" / "guide" / "gitops.md").read_text(encoding="utf-8")
(SCRIPT,) = re.findall(r"```lua\n(.*?)```", PAGE, re.DOTALL)


def argo(app: dict[str, Any]) -> str:
    """The health by the script, which Argo CD runs with the object as `obj`."""
    lua = LuaRuntime(unpack_returned_tuples=True)
    health = lua.execute(f"return function(obj)\n{SCRIPT}\nend")(lua.table_from(app, recursive=True))
    assert health["message"]
    return str(health["status"])


def kstatus(app: dict[str, Any]) -> str:
    """The status by the rules of sigs.k8s.io/cli-utils for a custom resource."""
    metadata, status = app["metadata"], app.get("status", {})
    if metadata.get("deletionTimestamp"):
        return "Terminating"
    if status.get("observedGeneration", metadata["generation"]) != metadata["generation"]:
        return "InProgress"
    conditions = {one["type"]: one["status"] for one in status.get("conditions", ())}
    if conditions.get("Reconciling") == "True":
        return "InProgress"
    if conditions.get("Stalled") == "True":
        return "Failed"
    return {"True": "Current", "False": "InProgress", "Unknown": "InProgress"}[
        conditions.get("Ready", "True")
    ]


def launching(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()


def running(sim: OperatorSim) -> None:
    sim.bring_up(join())


def edited(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(processors=4)


def restarting(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(restartNonce=1)
    sim.settle()


def refused(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin")
    sim.settle()


def failing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.fail_driver(1)


def hanging(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.pass_time(600)
    sim.silence()
    sim.settle(warms_up=False)  # else its successor replaces it at once


def exhausted(sim: OperatorSim) -> None:
    sim.bring_up(join(restartPolicy={"type": "Never"}))
    sim.fail_driver(600)


def suspended(sim: OperatorSim) -> None:
    sim.apply(join(suspend=True))
    sim.settle()


def paused(sim: OperatorSim) -> None:
    sim.bring_up(join())
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app"
    metadata = {"metadata": {"annotations": {PAUSE_ANNOTATION: "true"}}}
    sim.server.ask("PATCH", path, metadata, "application/merge-patch+json")
    sim.edit(processors=4)
    sim.settle()


def completed(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.end(code=0)
    sim.settle()


LIVES: list[tuple[Callable[[OperatorSim], None], str, str]] = [
    (launching, "Progressing", "InProgress"),
    (running, "Healthy", "Current"),
    (edited, "Progressing", "InProgress"),
    (restarting, "Progressing", "InProgress"),
    (refused, "Degraded", "Failed"),
    (failing, "Degraded", "InProgress"),
    (hanging, "Degraded", "InProgress"),
    (exhausted, "Degraded", "Failed"),
    (suspended, "Suspended", "InProgress"),
    (paused, "Suspended", "InProgress"),
    (completed, "Healthy", "InProgress"),
]


@pytest.mark.parametrize(("life", "health", "status"), LIVES, ids=[life.__name__ for life, _, _ in LIVES])
def test_argo_cd_and_flux_read_an_app_as_the_guide_says(
    sim: OperatorSim, life: Callable[[OperatorSim], None], health: str, status: str
) -> None:
    life(sim)
    assert argo(sim.app()) == health
    assert kstatus(sim.app()) == status


def test_an_app_that_no_operator_has_seen_is_progressing(sim: OperatorSim) -> None:
    sim.apply(join())
    assert argo(sim.app()) == "Progressing"


@ON_REAL_SERVER
def test_what_was_applied_differs_in_nothing_once_the_operator_has_acted(
    sim: OperatorSim, tmp_path: Path
) -> None:
    assert isinstance(sim.server, ApiServer)
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump(join()), encoding="utf-8")
    applied = sim.kubectl("apply", "-n", sim.namespace, "-f", str(file))
    assert applied.returncode == 0, applied.stderr
    sim.settle()
    sim.begin()
    sim.report()
    sim.settle()
    difference: subprocess.CompletedProcess[str] = sim.kubectl("diff", "-n", sim.namespace, "-f", str(file))
    assert difference.returncode == 0, difference.stdout
