"""What kubelets, drivers and Spark do, by hand: pods run and end, reports are written, executors come."""

from typing import Any

from streamapp.protocol import message_names
from streamapp.protocol.accepted_app import decode_accepted
from streamapp.protocol.driver_report import DriverState, ExecutorBinding, Report
from streamapp.protocol.message_names import INCARNATION
from streamapp.protocol.report_codec import decode_report, encode_report
from streamapp.protocol.silent_driver import SILENT_DRIVER, STANDBY_MANAGER, SilentDriver
from streamapp.protocol.wanted_state import decode_wanted
from streamapp_operator.reconciler.facts.timestamps import format_timestamp
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.memory_api import MemoryApi

NO_NODE = "a-node-that-is-gone"


def incarnation_in(pod: dict[str, Any]) -> int:
    """The incarnation of a driver pod."""
    return int(pod["metadata"]["labels"][INCARNATION])


class Hands:
    """Acts in one namespace, at a time of the test's own."""

    server: ApiServer | MemoryApi
    namespace: str
    now: float

    def drivers(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def driver(self) -> dict[str, Any]:
        (pod,) = self.drivers()
        return pod

    def config_map(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.server.ask("GET", self._path("configmaps", name))
        return found

    def begin(self, pod: str | None = None, node: str = "node-a") -> str:
        """A pod gets a node and its container runs; its name."""
        name = pod or self.driver()["metadata"]["name"]
        self._bind(name, node)
        container = self._container(name)
        self._pod_status(
            name,
            {
                "phase": "Running",
                "conditions": [self._ready("True")],
                "containerStatuses": [
                    {
                        **container,
                        "ready": True,
                        "state": {"running": {"startedAt": format_timestamp(self.now)}},
                    }
                ],
            },
        )
        return name

    def end(self, pod: str | None = None, code: int = 1, message: str = "", **status: Any) -> str:
        """A pod's container ends."""
        name = pod or self.driver()["metadata"]["name"]
        began = self.pod(name).get("status", {}).get("containerStatuses", [{}])[0].get("state", {})
        started = began.get("running", {}).get("startedAt", format_timestamp(self.now))
        ended = {
            "exitCode": code,
            "message": message,
            "startedAt": started,
            "finishedAt": format_timestamp(self.now),
        }
        self._pod_status(
            name,
            {
                "phase": "Succeeded" if code == 0 else "Failed",
                "containerStatuses": [
                    {**self._container(name), "ready": False, "state": {"terminated": ended}}
                ],
                **status,
            },
        )
        return name

    def hold_back(self, pod: str, reason: str, message: str = "so it is", node: str = "node-a") -> None:
        """The kubelet of a pod's node cannot start its container."""
        self._bind(pod, node)
        waiting = {"waiting": {"reason": reason, "message": message}}
        status = {**self._container(pod), "ready": False, "state": waiting}
        conditions = [self._ready("False")]
        self._pod_status(pod, {"phase": "Pending", "conditions": conditions, "containerStatuses": [status]})

    def leave_unscheduled(self, pod: str, message: str) -> None:
        """The scheduler finds no node for a pod."""
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        self._pod_status(pod, {"phase": "Pending", "conditions": [condition]})

    def unready(self, pod: str) -> None:
        """Nobody hears of a pod any more."""
        self._pod_status(pod, {"conditions": [self._ready("False")]})

    def silence(self, pod: str | None = None) -> str:
        """A pod's container fails the probes that it passed before; its name."""
        name = pod or self.driver()["metadata"]["name"]
        status = self.pod(name)["status"]
        containers = [{**one, "ready": False} for one in status["containerStatuses"]]
        self._pod_status(name, {"conditions": [self._ready("False")], "containerStatuses": containers})
        return name

    def node(self, name: str, ready: str) -> None:
        """A node says, or the control plane says of it, whether it is ready."""
        self.server.call("POST", "/api/v1/nodes", {"metadata": {"name": name}})
        condition = {"type": "Ready", "status": ready, "lastTransitionTime": format_timestamp(self.now)}
        path = f"/api/v1/nodes/{name}/status"
        self.server.ask(
            "PATCH", path, {"status": {"conditions": [condition]}}, "application/merge-patch+json"
        )

    def remove(self, pod: str) -> None:
        """A pod is gone, as after its kubelet has ended it."""
        self.server.ask("DELETE", f"{self._path('pods', pod)}?gracePeriodSeconds=0")

    def collect_garbage(self) -> None:
        """What the garbage collector does when an app is gone: its objects go too."""
        rbac = "apis/rbac.authorization.k8s.io/v1"
        for plural, group in (
            ("pods", "api/v1"),
            ("configmaps", "api/v1"),
            ("services", "api/v1"),
            ("serviceaccounts", "api/v1"),
            ("roles", rbac),
            ("rolebindings", rbac),
            ("controllerrevisions", "apis/apps/v1"),
        ):
            for one in self.server.ask("GET", self._path(plural, "", group))["items"]:
                grace = "?gracePeriodSeconds=0"
                self.server.ask("DELETE", self._path(plural, one["metadata"]["name"], group) + grace)

    def executor(self, number: int, driver: str | None = None, node: str = "node-a") -> str:
        """Spark makes an executor pod, and it runs; of which driver it is may be named."""
        name = f"app-exec-{number}" if driver is None else f"app-{driver.rpartition('-')[2]}-exec-{number}"
        labels = {
            "streamapp.dev/app": "app",
            "streamapp.dev/role": "executor",
            "spark-exec-id": str(number),
        }
        metadata: dict[str, Any] = {"name": name, "labels": labels}
        if driver is not None:
            uid = self.pod(driver)["metadata"]["uid"]
            metadata["ownerReferences"] = [
                {"apiVersion": "v1", "kind": "Pod", "name": driver, "uid": uid, "controller": True}
            ]
        template = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"containers": [{"name": "spark-kubernetes-executor", "image": "x"}]},
        }
        self.server.ask("POST", self._path("pods", ""), template)
        self.begin(name, node)
        return name

    def report(
        self,
        state: DriverState = DriverState.RUNNING,
        name: str = "app",
        driver: str | None = None,
        **told: Any,
    ) -> None:
        """The driver that lives, or this one, says something; by default that it runs what it was told to."""
        driver = driver or self.driver()["metadata"]["name"]
        job_model = self.config_map(f"{name}-job-model")["data"]
        desired = decode_wanted(job_model[message_names.WANTED])
        model = desired.model
        if message_names.ACCEPTED in job_model:
            generation = decode_accepted(job_model[message_names.ACCEPTED]).generation
            told = {"generation": generation, **told}
        if model is not None:
            seats = {one: ExecutorBinding(None, str(i + 1)) for i, one in enumerate(model.processors)}
            told = {
                "model_version": model.version,
                "binding": seats,
                "counts": {"views": 8, "users": 8},
                "layout": desired.layout,
                "run_id": model.run_id,
                **told,
            }
        text = encode_report(Report(state, driver=driver, spec_hash=desired.spec_hash, **told))
        path = self._path("configmaps", f"{name}-report")
        self.server.ask("PATCH", path, {"data": {message_names.REPORT: text}}, "application/merge-patch+json")

    def annotate_report(self, silent_driver: SilentDriver, name: str = "app") -> None:
        """A standby says that the driver does not answer."""
        path = f"{self._path('configmaps', f'{name}-report')}?fieldManager={STANDBY_MANAGER}"
        annotations = {SILENT_DRIVER: silent_driver.annotation()}
        self.server.ask(
            "PATCH", path, {"metadata": {"annotations": annotations}}, "application/merge-patch+json"
        )

    def reported(self, name: str = "app") -> Report:
        return decode_report(self.config_map(f"{name}-report")["data"][message_names.REPORT])

    def pod(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.server.ask("GET", self._path("pods", name))
        return found

    def _container(self, name: str) -> dict[str, Any]:
        own = self.pod(name)["spec"]["containers"][0]
        return {"name": own["name"], "image": own["image"], "imageID": "", "restartCount": 0}

    def _ready(self, status: str) -> dict[str, Any]:
        return {"type": "Ready", "status": status, "lastTransitionTime": format_timestamp(self.now)}

    def _bind(self, name: str, node: str) -> None:
        if self.pod(name)["spec"].get("nodeName"):
            return
        if node != NO_NODE:
            self.server.call("POST", "/api/v1/nodes", {"metadata": {"name": node}})
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        self.server.ask("POST", f"{self._path('pods', name)}/binding", body)

    def _pod_status(self, name: str, status: dict[str, Any]) -> None:
        path = f"{self._path('pods', name)}/status"
        self.server.ask("PATCH", path, {"status": status}, "application/merge-patch+json")

    def _path(self, plural: str, name: str, group: str = "api/v1") -> str:
        return f"/{group}/namespaces/{self.namespace}/{plural}/{name}".rstrip("/")
