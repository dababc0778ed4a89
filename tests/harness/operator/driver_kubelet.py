"""Runs the container of a driver pod as a process of this machine: its variables, its mounts, its account."""

import json
import os
import sys
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import Child
from tests.harness.operator.operator_sim import OperatorSim

PORTS = ("spark.driver.port", "spark.driver.blockManager.port", "spark.blockManager.port", "spark.ui.port")
"""A pod has them to itself; this machine may be running several drivers."""
ELSEWHERE = {"STREAMAPP_DRIVER_HOST"}
"""Names that nothing resolves here."""


def contained(sim: OperatorSim, pod: str, folder: Path, *, metrics_port: int = 0, **spark: str) -> Child:
    """The process, with settings of the test's own; stores and log are in the folder's `state`."""
    manifest = sim.server.ask("GET", f"/api/v1/namespaces/{sim.namespace}/pods/{pod}")
    own = (
        _variables(manifest)
        | secret_variables(sim, manifest)
        | {
            "STREAMAPP_ACCOUNT": str(account(sim, manifest, folder / "account")),
            "STREAMAPP_ACCEPTED": str(mounted(sim, manifest, folder / "accepted", spark)),
            "STREAMAPP_STATE": str(folder / "state"),
            "STREAMAPP_RUN_FOLDER": str(run_secret(sim, manifest, folder / "run")),
        }
    )
    server = sim.server
    assert isinstance(server, ApiServer)
    own |= {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.port)}
    (container,) = manifest["spec"]["containers"]
    program, *arguments = container["args"]
    command = [Path(sys.executable).with_name(program), *arguments]
    command += ["--metrics-port", str(metrics_port), "--page-port", "0"]
    return Child([*command, "--termination", folder / "termination"], folder / "driver.log", os.environ | own)


def _variables(manifest: dict[str, Any]) -> dict[str, str]:
    known = {"metadata.name": manifest["metadata"]["name"], "metadata.uid": manifest["metadata"]["uid"]}
    (container,) = manifest["spec"]["containers"]
    found = {}
    for one in container["env"]:
        field = one.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "")
        found[one["name"]] = one.get("value", known.get(field, ""))
    return {name: value for name, value in found.items() if name not in ELSEWHERE}


def secret_variables(sim: OperatorSim, manifest: dict[str, Any]) -> dict[str, str]:
    """The variables of a pod that have their values of Secrets."""
    (container,) = manifest["spec"]["containers"]
    found = {}
    for source in container.get("envFrom", ()):
        for key, value in secret(sim, source["secretRef"]["name"]).items():
            found[source.get("prefix", "") + key] = value
    for one in container["env"]:
        if reference := one.get("valueFrom", {}).get("secretKeyRef"):
            found[one["name"]] = secret(sim, reference["name"])[reference["key"]]
    return found


def mount_secrets(sim: OperatorSim, manifest: dict[str, Any], below: Path) -> None:
    """Make the volumes of Secrets that are mounted below a folder of the test's."""
    (container,) = manifest["spec"]["containers"]
    volumes = {
        one["name"]: one["secret"]["secretName"] for one in manifest["spec"]["volumes"] if "secret" in one
    }
    for mount in container["volumeMounts"]:
        path = Path(mount["mountPath"])
        if mount["name"] in volumes and path.is_relative_to(below):
            path.mkdir(parents=True)
            for key, value in secret(sim, volumes[mount["name"]]).items():
                (path / key).write_text(value, "utf-8")


def secret(sim: OperatorSim, name: str) -> dict[str, str]:
    """The values of a Secret."""
    data = sim.server.ask("GET", f"/api/v1/namespaces/{sim.namespace}/secrets/{name}")["data"]
    return {key: b64decode(value).decode() for key, value in data.items()}


def mounted(
    sim: OperatorSim, manifest: dict[str, Any], folder: Path, more_conf: Mapping[str, str] | None = None
) -> Path:
    """The accepted generation, as the pod finds it."""
    (name,) = [one["configMap"]["name"] for one in manifest["spec"]["volumes"] if "configMap" in one]
    folder.mkdir(parents=True)
    for file, text in sim.config_map(name)["data"].items():
        (folder / file).write_text(text, "utf-8")
    spark = folder / "spark.json"
    conf = {name: value for name, value in json.loads(spark.read_text("utf-8")).items() if name not in PORTS}
    spark.write_text(json.dumps(conf | dict(more_conf or {})), "utf-8")
    return folder


def run_secret(sim: OperatorSim, pod: dict[str, Any], folder: Path) -> Path:
    """The secret of a driver's run, as it is mounted."""
    name = pod["metadata"]["name"] + "-run"
    data = sim.server.ask("GET", f"/api/v1/namespaces/{sim.namespace}/secrets/{name}")["data"]
    folder.mkdir(parents=True)
    for file, value in data.items():
        (folder / file).write_bytes(b64decode(value))
    return folder


def driver_token(sim: OperatorSim, pod: dict[str, Any]) -> str:
    """The token of a pod's account that a kubelet mounts: it is bound to the pod."""
    name, metadata = pod["spec"]["serviceAccountName"], pod["metadata"]
    bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"boundObjectRef": bound},
    }
    path = f"/api/v1/namespaces/{sim.namespace}/serviceaccounts/{name}/token"
    token: str = sim.server.ask("POST", path, request)["status"]["token"]
    return token


def account(sim: OperatorSim, pod: dict[str, Any], folder: Path) -> Path:
    """The service account of a pod, as the pod finds it."""
    server = sim.server
    assert isinstance(server, ApiServer)
    folder.mkdir(parents=True)
    (folder / "token").write_text(driver_token(sim, pod), "utf-8")
    (folder / "ca.crt").write_bytes((server.folder / "apiserver.crt").read_bytes())
    (folder / "namespace").write_text(sim.namespace, "utf-8")
    return folder


@contextmanager
def asking_for_executors(sim: OperatorSim, folder: Path, *counts: int) -> Iterator[Child]:
    """A driver's Spark that has asked for so many executors, one count after the other."""
    server = sim.server
    assert isinstance(server, ApiServer)
    pod = sim.driver()
    given = account(sim, pod, folder / "account")
    command = [sys.executable, "-m", "tests.harness.operator.executor_request"]
    command += [str(mounted(sim, pod, folder / "accepted")), server.url, str(given)]
    secret = _variables(pod)["STREAMAPP_RUN_SECRET"]
    command += [pod["metadata"]["name"], secret, str(run_secret(sim, pod, folder / "run"))]
    command += map(str, counts)
    with Child(command, folder / "spark.log") as process:
        yield process
