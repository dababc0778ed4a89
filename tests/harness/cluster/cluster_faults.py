"""What fails or is changed under an app on the cluster, one function each, and how long its rows may stop."""

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tests.harness.cluster.app_namespace import LIMIT, Space
from tests.harness.cluster.chart_installation import Installation
from tests.harness.cluster.cluster_broker import grow, kill_process_of_broker
from tests.harness.cluster.cluster_programs import ProgramError
from tests.harness.cluster.waiting import until

Disturb = Callable[[Space], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault or change, and generous bounds in seconds for the gaps that it makes."""

    disturb: Disturb
    app: float  # while no row at all comes
    partition: float  # while none of the worst partition comes
    prepare: Disturb = lambda _: None  # what is done before rows are watched


_EXECUTOR: Final = "KubernetesExecutorBackend"
_DRIVER: Final = "streamapp drive"
"""By which their processes are found."""


def _signal(space: Space, pod: str, pattern: str, signal: str = "KILL") -> None:
    """Send a signal to processes in a pod."""
    try:
        space.kubectl("exec", pod, "--", "pkill", f"-{signal}", "-f", pattern)
    except ProgramError as error:
        if signal != "KILL" or "exit code 137" not in str(error):
            raise  # else the container has ended already, and what ran in it with it


def _first_executor(space: Space) -> str:
    return str(space.pods(space.name, "executor")[0]["metadata"]["name"])


def kill_workers(space: Space) -> None:
    """The Python workers of one executor."""
    _signal(space, _first_executor(space), "pyspark.daemon")


def kill_executor(space: Space) -> None:
    """The JVM of one executor."""
    _signal(space, _first_executor(space), _EXECUTOR)


def delete_executor(space: Space) -> None:
    """The pod of one executor."""
    space.kubectl("delete", "pod", _first_executor(space), "--wait=false")


KILLS: Final = 10
"""So many executors of one driver are killed one after another: more than Spark allows an app unless told."""


def kill_executors(space: Space) -> None:
    """The JVMs of ten executors, each when all work again; the driver has to be the same in the end."""
    driver, killed = space.driver(space.name), set[str]()
    for _ in range(KILLS):
        until(partial(_executors_missing, space, killed), LIMIT)
        executor = min(_running_executors(space) - killed)
        killed.add(executor)
        _signal(space, executor, _EXECUTOR)
    until(partial(_executors_missing, space, killed), LIMIT)
    assert space.driver(space.name) == driver, "the driver ended with its executors"


def kill_driver(space: Space) -> None:
    """The driver's process."""
    _signal(space, space.driver(space.name), _DRIVER)


def delete_driver(space: Space) -> None:
    """The driver's pod; it is over when another driver runs, since this one runs on for a while."""
    driver = space.driver(space.name)
    space.kubectl("delete", "pod", driver, "--wait=false")
    until(lambda: _not_replaced(space, driver), LIMIT)


def restart_driver(space: Space) -> None:
    """An edit that needs another driver; it is over when the edit runs."""
    nonce = int(space.app(space.name)["spec"].get("restartNonce", 0)) + 1
    space.edit(space.name, restartNonce=nonce)
    generation = space.app(space.name)["metadata"]["generation"]
    until(lambda: _not_ready(space, generation), LIMIT)


def _refused(edit: dict[str, Any], *reasons: str) -> Disturb:
    return lambda space: refuse_edit(space, edit, reasons)


def refuse_edit(space: Space, edit: dict[str, Any], reasons: Collection[str]) -> None:
    """An edit whose pods cannot start; it is over when it is refused for that, and taken back."""
    driver, spec = space.driver(space.name), space.app(space.name)["spec"]
    space.edit(space.name, **edit)
    until(lambda: _not_refused(space, reasons), LIMIT)
    assert space.driver(space.name) == driver, "the driver ended for an edit that cannot start"
    step = {"op": "replace", "path": "/spec", "value": spec}
    space.kubectl("patch", f"streamapp/{space.name}", "--type=json", "-p", json.dumps([step]))
    generation = space.app(space.name)["metadata"]["generation"]
    until(lambda: _not_ready(space, generation), LIMIT)
    assert space.driver(space.name) == driver, "the driver ended for an edit that was taken back"


def keep_standby(space: Space, *, executors: bool = False) -> None:
    """An edit that asks for a standby driver; it is over when one is ready."""
    space.edit(space.name, driver={"standby": True, "standbyExecutors": executors})
    generation = space.app(space.name)["metadata"]["generation"]
    until(lambda: _not_ready(space, generation), LIMIT)
    until(lambda: _no_standby(space), LIMIT)


def scale(space: Space) -> None:
    """A processor more, and a processor less."""
    for processors in (3, 2):
        space.kubectl("scale", f"streamapp/{space.name}", f"--replicas={processors}")
        until(partial(_not_scaled, space, processors), LIMIT)


def grow_topic(space: Space, partitions: int) -> None:
    """The views get more partitions; it is over when the app runs by a job model that has them."""
    version = _model_version(space)
    grow(space.cluster, f"{space.name}.views", partitions)
    until(lambda: _not_grown(space, version), LIMIT)


def restart_for_growth(space: Space) -> None:
    """An edit by which added partitions are applied with another driver."""
    space.edit(space.name, onPartitionChange="restart")


@contextmanager
def drained(space: Space, node: str) -> Iterator[None]:
    """A node that is made empty as for an upgrade of it, as long as this lasts."""
    drain = ("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=240s")
    try:
        space.cluster.kubectl(*drain, limit=300)
        yield
    finally:
        space.cluster.kubectl("uncordon", node)


def drain_driver(space: Space) -> None:
    """The driver's node is drained, and comes back when the app runs again."""
    driver = space.driver(space.name)
    node = space.kubectl("get", "pod", driver, "-o", "jsonpath={.spec.nodeName}")
    with drained(space, node):
        until(lambda: _not_replaced(space, driver), LIMIT)


AWAY_SECONDS: Final = 60.0
"""So long a node is away that runs an executor."""


def _nodes(space: Space) -> tuple[str, str]:
    """The driver's node, and another one with an executor."""
    driver = space.driver(space.name)
    nodes = {
        str(pod["metadata"]["name"]): str(pod["spec"]["nodeName"])
        for role in ("driver", "executor")
        for pod in space.pods(space.name, role)
    }
    others = sorted(set(nodes.values()) - {nodes[driver]})
    assert others, f"all pods are on one node: {nodes}"
    return nodes[driver], others[0]


@contextmanager
def _away(space: Space, node: str, end: str, begin: str) -> Iterator[None]:
    """A node that docker ends in one way and brings back in the other, as long as this lasts."""
    space.cluster.programs.run("docker", end, node)
    try:
        yield
    finally:
        space.cluster.programs.run("docker", begin, node)
        ready = ("wait", "--for=condition=Ready", f"node/{node}", "--timeout=120s")
        space.cluster.kubectl(*ready, limit=150)


def _wait_away(node: str) -> None:
    back = time.monotonic() + AWAY_SECONDS
    until(lambda: [] if time.monotonic() >= back else [f"{node} is away"], LIMIT)


def pause_other_node(space: Space) -> None:
    """The processes of a node with an executor and without the driver stand still for a while."""
    _, other = _nodes(space)
    with _away(space, other, "pause", "unpause"):
        _wait_away(other)


def kill_other_node(space: Space) -> None:
    """A node with an executor and without the driver loses its power, and is started again."""
    _, other = _nodes(space)
    with _away(space, other, "kill", "start"):
        _wait_away(other)


def kill_node_of_driver(space: Space) -> None:
    """The driver's node loses its power, and is started again when another driver runs."""
    driver = space.driver(space.name)
    node, _ = _nodes(space)
    with _away(space, node, "kill", "start"):
        until(lambda: _not_replaced(space, driver), LIMIT)


def kill_broker(space: Space) -> None:
    """The only broker ends by SIGKILL; its container is started again with what is on its volume."""
    kill_process_of_broker(space.cluster)


def stop_driver(space: Space) -> None:
    """The driver's process hangs; it is over when another driver runs."""
    driver = space.driver(space.name)
    _signal(space, driver, _DRIVER, "STOP")
    until(lambda: _not_replaced(space, driver), LIMIT)


def end_operator(space: Space) -> None:
    """All replicas of the operator end without a word; it is over when others are ready."""
    operator = Installation(space.cluster)
    operator.kill()
    operator.await_ready()


MISSING_SECRET: Final = {
    "name": "MISSING",
    "valueFrom": {"secretKeyRef": {"name": "no-such-secret", "key": "none"}},
}
NO_NODE: Final = {"spec": {"nodeSelector": {"no-such-label": "none"}}}
FAULTS: Mapping[str, Fault] = {
    "all replicas of the operator are killed": Fault(end_operator, 10, 10),
    "the processes of a node with an executor stand still for 60 s": Fault(pause_other_node, 50, 55),
    "the Python workers of an executor are killed": Fault(kill_workers, 60, 60),
    "the JVM of an executor is killed": Fault(kill_executor, 60, 90),
    "the pod of an executor is deleted": Fault(delete_executor, 60, 90),
    "ten executors are killed, one after another": Fault(kill_executors, 60, 90),
    "the driver is killed": Fault(kill_driver, 90, 90),
    "the pod of the driver is deleted": Fault(delete_driver, 90, 90),
    "an edit needs another driver": Fault(restart_driver, 60, 60),
    "an edit's image cannot be pulled": Fault(
        _refused({"image": "registry.invalid/none:1"}, "ErrImagePull", "ImagePullBackOff"), 10, 10
    ),
    "an edit's Secret is missing": Fault(
        _refused({"env": [MISSING_SECRET]}, "CreateContainerConfigError"), 10, 10
    ),
    "no node takes the executors of an edit": Fault(
        _refused({"executor": {"template": NO_NODE}}, "Unschedulable"), 10, 10
    ),
    "a processor is added and removed": Fault(scale, 60, 60),
    "a topic gets more partitions": Fault(partial(grow_topic, partitions=8), 60, 60),
    "the same, with onPartitionChange: restart": Fault(
        partial(grow_topic, partitions=16), 60, 60, restart_for_growth
    ),
    "the only broker is killed": Fault(kill_broker, 60, 60),
    "the node of the driver is drained": Fault(drain_driver, 120, 120),
    "a node with an executor loses its power for 60 s": Fault(kill_other_node, 60, 90),
    "the node of the driver loses its power": Fault(kill_node_of_driver, 200, 200),
    "the driver hangs": Fault(stop_driver, 90, 90),
    "the driver is killed, with driver.standby": Fault(kill_driver, 60, 60, keep_standby),
    "the driver is killed, with driver.standbyExecutors": Fault(
        kill_driver, 30, 30, partial(keep_standby, executors=True)
    ),
    "the driver hangs, with driver.standbyExecutors": Fault(
        stop_driver, 40, 40, partial(keep_standby, executors=True)
    ),
    "the node of the driver loses its power, with driver.standbyExecutors": Fault(
        kill_node_of_driver, 60, 60, partial(keep_standby, executors=True)
    ),
}


def _not_ready(space: Space, generation: int) -> list[str]:
    ready: dict[str, Any] = space.condition(space.name, "Ready")
    runs = ready.get("status") == "True" and ready.get("observedGeneration") == generation
    return [] if runs else [f"Ready is {ready}"]


def _not_refused(space: Space, reasons: Collection[str]) -> list[str]:
    accepted: dict[str, Any] = space.condition(space.name, "Accepted")
    is_refused = accepted.get("status") == "False" and accepted.get("reason") in reasons
    return [] if is_refused else [f"Accepted is {accepted}"]


def _no_standby(space: Space) -> list[str]:
    """Whether no driver pod besides the one that runs is ready."""
    running = space.driver(space.name)
    others = [pod for pod in space.pods(space.name, "driver") if pod["metadata"]["name"] != running]
    conditions = [one for pod in others for one in pod["status"].get("conditions") or ()]
    is_ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return [] if is_ready else [f"{len(others)} other drivers, none ready"]


def _running_executors(space: Space) -> set[str]:
    """The executors whose processes run."""
    return {
        str(pod["metadata"]["name"])
        for pod in space.pods(space.name, "executor")
        for container in pod["status"].get("containerStatuses") or ()
        if container["ready"]
    }


def _executors_missing(space: Space, killed: set[str]) -> list[str]:
    """Whether fewer executors than wanted run, besides those that were killed, or not all of them work."""
    running = _running_executors(space) - killed
    app = space.app(space.name)
    wanted, report = int(app["spec"]["processors"]), space.condition(space.name, "Ready")["message"]
    works = len(running) == wanted and report.startswith(("all processors work", "all tasks run"))
    return [] if works else [f"{sorted(running)} run, {wanted} are wanted: {report}"]


def _model_version(space: Space) -> int:
    return int(space.status(space.name)["jobModel"]["version"])


def _not_grown(space: Space, version: int) -> list[str]:
    """Whether the app does not yet run by a job model that is newer than this one."""
    newest = _model_version(space)
    conditions = {kind: space.condition(space.name, kind).get("status") for kind in ("Ready", "Progressing")}
    is_over = newest > version and conditions == {"Ready": "True", "Progressing": "False"}
    return [] if is_over else [f"job model {newest} after {version}, {conditions}"]


def _not_scaled(space: Space, processors: int) -> list[str]:
    found = space.status(space.name).get("processors")
    return [] if found == processors else [f"{found} processors instead of {processors}"]


def _not_replaced(space: Space, driver: str) -> list[str]:
    status = space.status(space.name)
    running = (status.get("driver") or {}).get("pod") != driver and status.get("phase") == "Running"
    return [] if running else [f"driver {status.get('driver')} is {status.get('phase')}"]
