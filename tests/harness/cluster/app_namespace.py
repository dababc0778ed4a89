"""A namespace in which one test lives: what is applied to it, and what it has to come to look like."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster.assertion_match import differences
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until

LIMIT = 300.0
"""For an app to get from nothing to ready on a machine of two cores."""
STEPS = Path(__file__).parents[2] / "e2e" / "steps"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


@dataclass(frozen=True, slots=True)
class Space:
    """One namespace of a cluster."""

    cluster: Cluster
    name: str

    def make(self, *, restricted: bool = True) -> None:
        """Make it; `restricted` has Kubernetes refuse pods that ask for more than they need."""
        labels = {"streamapp-e2e": "space", **(RESTRICTED if restricted else {})}
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.name, "labels": labels},
        }
        self.cluster.kubectl("apply", "-f", "-", given=json.dumps(namespace))

    def remove(self, limit: float = 180) -> None:
        """Delete it, and wait until it is gone with all that is in it."""
        self._delete(f"--timeout={limit:g}s", limit=limit + 30)

    def leave(self) -> None:
        """Delete it, and wait for nothing."""
        self._delete("--wait=false")

    def _delete(self, *how: str, limit: float = 120) -> None:
        self.cluster.kubectl("delete", "namespace", self.name, "--ignore-not-found", *how, limit=limit)

    def play(self, step: str, limit: float = LIMIT) -> float:
        """Apply `<step>-apply.yaml` and wait for `<step>-assert.yaml`; how long that took."""
        self.apply(f"{step}-apply")
        return self.looks_like(f"{step}-assert", limit)

    def apply(self, file: str) -> None:
        """Apply a file of steps."""
        self.kubectl("apply", "--server-side", "-f", str(STEPS / f"{file}.yaml"))

    def looks_like(self, file: str, limit: float = LIMIT) -> float:
        """Wait until every object of an assertion is there and as it says; how long that took."""
        wanted = list(_documents(STEPS / f"{file}.yaml"))
        return until(lambda: [said for one in wanted for said in self._wrong(one)], limit)

    def app(self, name: str) -> dict[str, Any]:
        """A StreamApp as it is now."""
        found: dict[str, Any] = json.loads(self.kubectl("get", "streamapp", name, "-o", "json"))
        return found

    def status(self, name: str) -> dict[str, Any]:
        """What the operator says of an app; nothing before it has said anything."""
        found: dict[str, Any] = self.app(name).get("status") or {}
        return found

    def condition(self, name: str, kind: str) -> dict[str, Any]:
        """One condition of an app; nothing where it has none of that type."""
        conditions = self.status(name).get("conditions") or []
        return next((one for one in conditions if one["type"] == kind), {})

    def pods(self, app: str, role: str) -> list[dict[str, Any]]:
        """The pods of an app in one role, those that are about to end left out."""
        labels = f"streamapp.dev/app={app},streamapp.dev/role={role}"
        found = self.cluster.objects("pods", "-n", self.name, "-l", labels)
        return sorted(
            (pod for pod in found if "deletionTimestamp" not in pod["metadata"]),
            key=lambda pod: str(pod["metadata"]["name"]),
        )

    def names(self, kinds: str, labels: str = "streamapp.dev/app") -> list[str]:
        """What is left of some kinds, by the labels that all objects of apps have."""
        return self.kubectl("get", kinds, "-l", labels, "-o", "name").split()

    def edit(self, app: str, **spec: Any) -> None:
        """Set fields of an app's spec."""
        self.kubectl("patch", f"streamapp/{app}", "--type=merge", "-p", json.dumps({"spec": spec}))

    def events(self, app: str, reason: str) -> list[str]:
        """The messages of an app's events that have this reason."""
        chosen = f"involvedObject.kind=StreamApp,involvedObject.name={app},reason={reason}"
        found = self.cluster.objects("events", "-n", self.name, "--field-selector", chosen)
        return [str(event["message"]) for event in found]

    def driver(self, app: str) -> str:
        """The name of the pod of the driver that runs: of two that live the older one."""
        ended = ("Succeeded", "Failed")
        live = [pod for pod in self.pods(app, "driver") if pod["status"].get("phase") not in ended]
        return str(min(live, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))["metadata"]["name"])

    def data(self, config_map: str) -> dict[str, str]:
        """What is in a ConfigMap."""
        found: dict[str, str] = json.loads(self.kubectl("get", "configmap", config_map, "-o", "json"))["data"]
        return found

    def page(self, service: str, port: str, path: str) -> str:
        """What a Service of this namespace answers, by way of the API server."""
        where = f"/api/v1/namespaces/{self.name}/services/{service}:{port}/proxy/{path}"
        return self.cluster.kubectl("get", "--raw", where)

    def kubectl(self, *args: str, given: str | None = None, limit: float = 120) -> str:
        """What kubectl wrote, in this namespace."""
        return self.cluster.kubectl("-n", self.name, *args, given=given, limit=limit)

    def _wrong(self, wanted: dict[str, Any]) -> list[str]:
        kind, metadata = wanted["kind"], wanted["metadata"]
        if "name" in metadata:
            found = self.kubectl("get", kind, metadata["name"], "--ignore-not-found", "-o", "json")
            place = f"{kind}/{metadata['name']}"
            return differences(wanted, json.loads(found), place) if found else [f"{place}: not there"]
        labels = ",".join(f"{key}={value}" for key, value in metadata.get("labels", {}).items())
        every = [
            differences(wanted, one, f"{kind}/{one['metadata']['name']}")
            for one in self.cluster.objects(kind, "-n", self.name, "-l", labels)
        ]
        return min(every, key=len, default=[f"{kind} with {labels}: not there"])


def _documents(file: Path) -> Iterator[dict[str, Any]]:
    yield from (one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one)
