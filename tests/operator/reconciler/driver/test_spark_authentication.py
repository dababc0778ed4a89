"""Driver and executors of a run know each other by a secret; nobody else commands Spark."""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.harness.api_server.api_server import REPOSITORY
from tests.harness.machine.processes import Child, until
from tests.harness.operator.driver_kubelet import asking_for_executors
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

ENTRYPOINT = REPOSITORY / "runtime" / "image" / "entrypoint"
PATIENCE_SECONDS = 240.0
REGISTERED = "Successfully registered with driver"
LINE = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ([A-Z]+) \S+\.app \S+: "
"""Begins a line in the log of an executor that logs text."""
MOUNT = "/etc/streamapp/run"


def _secret(sim: OperatorSim, name: str) -> dict[str, Any]:
    found: dict[str, Any] = sim.server.ask("GET", f"/api/v1/namespaces/{sim.namespace}/secrets/{name}")
    return found


def test_each_run_has_a_secret_of_its_own_that_goes_with_its_pod(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    first = _secret(sim, "app-driver-1-run")
    assert first["immutable"]
    (owner,) = first["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Pod", sim.driver()["metadata"]["uid"])
    sim.begin()
    sim.fail_driver(60)
    second = _secret(sim, "app-driver-2-run")
    assert second["data"]["secret"] != first["data"]["secret"]


def test_a_secret_that_was_not_written_before_a_crash_is_written_afterwards(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    path = f"/api/v1/namespaces/{sim.namespace}/secrets/app-driver-1-run"
    sim.server.ask("DELETE", path)
    sim.restart()
    sim.settle()
    assert _secret(sim, "app-driver-1-run")["data"]["secret"]


def test_the_secret_is_in_no_object_but_the_secret(sim: OperatorSim) -> None:
    sim.bring_up(join())
    value = _secret(sim, "app-driver-1-run")["data"]["secret"]
    for plural in ("pods", "configmaps", "events", "services"):
        assert value not in str(sim.objects(plural))
    assert value not in str(sim.app())


def test_a_secret_of_somebody_else_is_left_alone_and_named(sim: OperatorSim) -> None:
    path = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask("POST", path, {"metadata": {"name": "app-driver-1-run"}, "stringData": {"a": "b"}})
    sim.apply(join())
    sim.settle()
    assert sim.says("Launched") == ("False", "NameTaken")
    assert "app-driver-1-run" in sim.condition("Launched")["message"]


@pytest.fixture
def executor(
    sim: OperatorSim, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[Child, dict[str, str]]]:
    """A driver's Spark, and the variables of the executor that it has asked for."""
    sim.apply(join(network={"encryption": getattr(request, "param", "plain") == "encrypted"}))
    sim.settle()
    sim.begin()
    with asking_for_executors(sim, tmp_path, 1) as spark:
        until(lambda: len(sim.names("pods")) == 2, PATIENCE_SECONDS, spark)
        (pod,) = [one for one in sim.objects("pods") if one["metadata"]["name"] != "app-driver-1"]
        (container,) = pod["spec"]["containers"]
        assert {"name": "streamapp-run-secret", "mountPath": MOUNT, "readOnly": True} in container[
            "volumeMounts"
        ]
        variables = {one["name"]: one.get("value", "127.0.0.1") for one in container["env"]}
        assert all("SECRET" not in name for name in variables)
        yield spark, variables


@contextmanager
def running(
    folder: Path, variables: dict[str, str], secret: Path, level: str | None = "info", **more: str
) -> Iterator[Child]:
    """A process as the runtime's image begins an executor; where the secret is is the test's to say."""
    moved = {name: value.replace(MOUNT, str(secret)) for name, value in variables.items()}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, **moved, "PATH": path, "SPARK_EXECUTOR_MEMORY": "512m", **more}
    environment.pop("SPARK_CONF_DIR", None)
    if level is not None:
        environment["STREAMAPP_SPARK_LOG_LEVEL"] = level
    with Child(["sh", ENTRYPOINT, "executor"], folder / "executor.log", environment) as child:
        yield child


def levels(child: Child) -> set[str]:
    """The levels of an executor's lines, each of which is a JSON object of the executors of its app."""
    lines = [json.loads(line) for line in child.said().splitlines() if line.startswith("{")]
    assert all(line["service.node.role"] == "executor" for line in lines)
    assert all(line["service.name"].endswith(".app") for line in lines)
    return {line["log.level"] for line in lines}


@ON_REAL_SERVER
@pytest.mark.nightly
def test_an_executor_with_the_secret_is_taken(executor: tuple[Child, dict[str, str]], tmp_path: Path) -> None:
    _, variables = executor
    with running(tmp_path, variables, tmp_path / "run") as child:
        until(lambda: REGISTERED in child.said(), PATIENCE_SECONDS, child)
        assert "INFO" in levels(child)


@ON_REAL_SERVER
def test_an_executor_says_what_went_wrong_and_nothing_else(
    executor: tuple[Child, dict[str, str]], tmp_path: Path
) -> None:
    _, variables = executor
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret").write_bytes(os.urandom(32))
    with running(tmp_path, variables, other, level=None) as child:
        assert child.wait(PATIENCE_SECONDS) != 0
        assert levels(child)
        assert levels(child) <= {"ERROR", "WARN"}
    with running(tmp_path, variables, other, level=None, STREAMAPP_LOG_FORMAT="text") as child:
        assert child.wait(PATIENCE_SECONDS) != 0
        assert set(re.findall(LINE, child.said(), re.M)) <= {"ERROR", "WARN"}
        assert re.search(LINE, child.said(), re.M)


@ON_REAL_SERVER
@pytest.mark.parametrize("executor", ["encrypted"], indirect=True)
def test_of_all_only_an_executor_that_has_the_secret_and_encrypts_is_taken(
    executor: tuple[Child, dict[str, str]], tmp_path: Path
) -> None:
    """The first does not encrypt, the second knows all but the secret; each asks for the app's settings."""
    _, variables = executor
    crypto = {name for name, value in variables.items() if "spark.network.crypto" in value}
    secret = {name for name, value in variables.items() if "spark.authenticate" in value}
    assert (len(crypto), bool(secret)) == (4, True)
    for left_out in (crypto, secret):
        known = {name: value for name, value in variables.items() if name not in left_out}
        with running(tmp_path, known, tmp_path / "run") as child:
            assert child.wait(PATIENCE_SECONDS) != 0
            assert REGISTERED not in child.said()
    with running(tmp_path, variables, tmp_path / "run") as child:
        until(lambda: REGISTERED in child.said(), PATIENCE_SECONDS, child)
        assert "INFO" in levels(child)


@ON_REAL_SERVER
@pytest.mark.nightly
def test_a_stranger_with_another_secret_is_refused(
    executor: tuple[Child, dict[str, str]], tmp_path: Path
) -> None:
    _, variables = executor
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret").write_bytes(os.urandom(32))
    with running(tmp_path, variables, other) as child:
        assert child.wait(PATIENCE_SECONDS) != 0
        assert REGISTERED not in child.said()
