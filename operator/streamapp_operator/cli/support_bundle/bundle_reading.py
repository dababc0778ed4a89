"""Reads all of an app that helps to understand it. Secrets are not among it."""

import asyncio
import json
import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final

from streamapp.protocol import message_names
from streamapp_operator.cli.cluster_access.app_lookup import read_app, read_events
from streamapp_operator.cli.cluster_access.app_pods import read_app_pods
from streamapp_operator.cli.status_text import status_text
from streamapp_operator.cli.support_bundle.bundle_contents import BundleContents
from streamapp_operator.cli.support_bundle.bundle_plan import PlanUnknownError, plan_of_report
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ANY, ApiRequest
from streamapp_operator.controller.client.labels import APP_LABEL, OPERATOR_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest, object_path
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    NODE,
    POD,
    VOLUME_CLAIM,
    ResourceKind,
    Verb,
)
from streamapp_operator.reconciler.objects.driver_service import METRICS
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole

LOG_BYTES: Final = 4 * 1024 * 1024
LOG_SECONDS: Final = 30.0
LOGS_AT_ONCE: Final = 8
OPERATOR_PORT: Final = 8080
_OWN_CONFIG_MAPS: Final = frozenset(
    {ObjectRole.ACCEPTED, ObjectRole.JOB_MODEL, ObjectRole.REPORT, ObjectRole.LOCALITY}
)
"""What operator and driver write: a ConfigMap of anybody else is not read, whatever its labels."""


async def read_bundle(cluster: ApiClusterClient, namespace: str, name: str, log_lines: int) -> BundleContents:
    """All that can be read of an app; a ClickException where there is no such app."""
    reading = _Reading(cluster, namespace, name, log_lines, await read_app(cluster, namespace, name))
    for read in _PARTS:
        await read(reading)
    return reading.contents


@dataclass(slots=True)
class _Reading:
    """The app, and what is read of it so far."""

    cluster: ApiClusterClient
    namespace: str
    name: str
    log_lines: int
    app: Manifest
    contents: BundleContents = field(default_factory=BundleContents)
    pods: list[Manifest] = field(default_factory=list)

    async def labelled(self, kind: ResourceKind) -> list[Manifest]:
        """The app's objects of a kind, as far as they can be read."""
        objects = self.cluster.select(kind, self.namespace, {APP_LABEL: self.name})
        return await self.contents.attempt(kind.plural, objects, [])

    async def log(self, pod: str, query: Mapping[str, str]) -> str:
        """The log of a container."""
        path = f"{object_path(POD, self.namespace, pod)}/log"
        request = ApiRequest(Verb.GET, "GET", path, tuple(query.items()), accept=ANY)
        return str((await self.cluster.transport.send(request, LOG_SECONDS)).body)

    async def metrics(self, namespace: str, pod: str, port: int) -> str:
        """The metrics of a pod, through the API server."""
        path = f"{object_path(POD, namespace, f'{pod}:{port}')}/proxy/metrics"
        return str((await self.cluster.transport.send(ApiRequest(Verb.GET, "GET", path, accept=ANY))).body)

    @property
    def involved_names(self) -> frozenset[str]:
        """The names of the app and of its objects that there are files of."""
        objects = (file.content for file in self.contents.files if isinstance(file.content, dict))
        names = {str(each["metadata"]["name"]) for each in objects if "metadata" in each}
        return frozenset({self.name, *names})


async def _read_resource(reading: _Reading) -> None:
    reading.contents.add("resource.json", "the resource, with its status", reading.app)
    reading.contents.add(
        "status.txt", "phase and conditions, as streamapp status has them", status_text(reading.app)
    )


async def _read_pods(reading: _Reading) -> None:
    read = read_app_pods(reading.cluster, reading.namespace, reading.name)
    reading.pods = await reading.contents.attempt("pods", read, [])
    for pod in reading.pods:
        reading.contents.add(f"pods/{pod['metadata']['name']}.json", "a pod of the app", pod)


async def _read_config_maps(reading: _Reading) -> None:
    report = ""
    for config_map in await reading.labelled(CONFIG_MAP):
        metadata = config_map["metadata"]
        role = (metadata.get("labels") or {}).get(ROLE_LABEL)
        if role not in _OWN_CONFIG_MAPS:
            continue
        data = {key: _parsed(text) for key, text in (config_map.get("data") or {}).items()}
        name = f"config-maps/{metadata['name']}.json"
        description = f"a ConfigMap of operator and driver: {role}"
        reading.contents.add(name, description, {**config_map, "data": data})
        for key, value in data.items():
            if value is None:
                reading.contents.leave_out(f"{key} of {name}", "it is no JSON")
        if role == ObjectRole.REPORT:
            report = (config_map.get("data") or {}).get(message_names.REPORT, "")
    try:
        reading.contents.add(
            "plan.txt",
            "the plan of the resource as it is now, by the partition counts that the driver reported",
            plan_of_report(reading.app, report),
        )
    except PlanUnknownError as error:
        reading.contents.leave_out("plan.txt", str(error))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def _read_labelled(reading: _Reading) -> None:
    for kind, folder, description in (
        (VOLUME_CLAIM, "claims", "a volume claim"),
        (CONTROLLER_REVISION, "revisions", "a spec that a driver ran with, as streamapp history lists it"),
    ):
        for manifest in await reading.labelled(kind):
            reading.contents.add(f"{folder}/{manifest['metadata']['name']}.json", description, manifest)


async def _read_events(reading: _Reading) -> None:
    names = reading.involved_names
    pods_that_are_gone = (f"{reading.name}-driver-", f"{reading.name}-exec-")
    events: list[Manifest] = await reading.contents.attempt(
        "events",
        read_events(
            reading.cluster,
            reading.namespace,
            lambda name: name in names or name.startswith(pods_that_are_gone),
        ),
        [],
    )
    reading.contents.add("events.json", "events of the app and of its objects, the newest last", events)


async def _read_logs(reading: _Reading) -> None:
    at_once = asyncio.Semaphore(LOGS_AT_ONCE)

    async def read(pod: str, container: str, *, previous: bool) -> None:
        ending = ".previous.log" if previous else ".log"
        name = f"logs/{pod}/{container}{ending}"
        query = {"container": container, "tailLines": str(reading.log_lines), "limitBytes": str(LOG_BYTES)}
        query |= {"previous": "true"} if previous else {}
        async with at_once:
            text = await reading.contents.attempt(name, reading.log(pod, query), None)
        if text is None:
            return
        whose = "the container before the present one" if previous else "a container"
        reading.contents.add(name, f"the last {reading.log_lines} lines of {whose}", text)
        if len(text.encode()) >= LOG_BYTES:
            reading.contents.leave_out(f"the end of {name}", f"its lines take more than {LOG_BYTES:,} bytes")

    await asyncio.gather(
        *(
            read(pod["metadata"]["name"], container["name"], previous=previous)
            for pod in reading.pods
            for field_name in ("initContainerStatuses", "containerStatuses")
            for container in (pod.get("status") or {}).get(field_name) or ()
            for previous in ((False, True) if container.get("restartCount") else (False,))
        )
    )


async def _read_nodes(reading: _Reading) -> None:
    names = sorted({str(pod["spec"]["nodeName"]) for pod in reading.pods if pod["spec"].get("nodeName")})
    nodes = []
    for name in names:
        node = await reading.contents.attempt(f"node {name}", reading.cluster.read(NODE, "", name), None)
        nodes += [_node_summary(node)] if node is not None else []
        if node is None and not any(part.name == f"node {name}" for part in reading.contents.unread):
            reading.contents.leave_out(f"node {name}", "there is no such node any more")
    reading.contents.add("nodes.json", "the nodes of the app's pods: capacity, conditions, taints", nodes)


def _node_summary(node: Manifest) -> dict[str, Any]:
    status = node.get("status") or {}
    conditions: Sequence[Mapping[str, Any]] = status.get("conditions") or ()
    return {
        "name": node["metadata"]["name"],
        "capacity": status.get("capacity"),
        "allocatable": status.get("allocatable"),
        "conditions": [
            {key: each.get(key) for key in ("type", "status", "reason", "lastTransitionTime")}
            for each in conditions
        ],
        "taints": (node.get("spec") or {}).get("taints"),
        "unschedulable": (node.get("spec") or {}).get("unschedulable", False),
        "kubelet": (status.get("nodeInfo") or {}).get("kubeletVersion"),
    }


async def _read_driver_metrics(reading: _Reading) -> None:
    for pod in reading.pods:
        metadata = pod["metadata"]
        is_running = (pod.get("status") or {}).get("phase") == "Running"
        if (metadata.get("labels") or {}).get(ROLE_LABEL) == ObjectRole.DRIVER and is_running:
            name = f"metrics/{metadata['name']}.txt"
            metrics = reading.metrics(reading.namespace, metadata["name"], METRICS)
            text = await reading.contents.attempt(name, metrics, None)
            if text is not None:
                reading.contents.add(name, "metrics of a driver", text)


async def _read_operator(reading: _Reading) -> None:
    selected = reading.cluster.select(POD, None, dict([OPERATOR_LABEL]))
    pods: list[Manifest] = await reading.contents.attempt("the operator", selected, [])
    if not pods and not any(part.name == "the operator" for part in reading.contents.unread):
        reading.contents.leave_out("the operator", f"no pod has the label {'='.join(OPERATOR_LABEL)}")
    summaries = []
    for pod in pods:
        metadata, containers = pod["metadata"], pod["spec"]["containers"]
        summaries.append(
            {
                "pod": metadata["name"],
                "namespace": metadata["namespace"],
                "version": (metadata.get("labels") or {}).get("app.kubernetes.io/version"),
                "images": [container.get("image") for container in containers],
                "phase": (pod.get("status") or {}).get("phase"),
            }
        )
        name = f"metrics/{metadata['name']}.txt"
        metrics = reading.metrics(metadata["namespace"], metadata["name"], OPERATOR_PORT)
        text = await reading.contents.attempt(name, metrics, None)
        if text is not None:
            lines = _lines_of_app(text, reading.namespace, reading.name)
            reading.contents.add(name, "what this replica of the operator measures of the app", lines)
    reading.contents.add("operator.json", "the operator's pods and images", summaries)


def _lines_of_app(metrics: str, namespace: str, app: str) -> str:
    labels = (f'namespace="{namespace}"', f'app="{app}"')
    lines = (line for line in metrics.splitlines() if all(label in line for label in labels))
    return "".join(f"{line}\n" for line in lines)


async def _read_versions(reading: _Reading) -> None:
    reply = reading.cluster.transport.send(ApiRequest(Verb.GET, "GET", "/version"))
    kubernetes = await reading.contents.attempt("the version of Kubernetes", reply, None)
    versions = {
        "streamapp": version("streamapp"),
        "python": platform.python_version(),
        "kubernetes": kubernetes.body if kubernetes is not None else None,
    }
    reading.contents.add("versions.json", "the versions of this command and of Kubernetes", versions)


_PARTS: Final[Sequence[Callable[[_Reading], Awaitable[None]]]] = (
    _read_resource,
    _read_pods,
    _read_config_maps,
    _read_labelled,
    _read_events,
    _read_logs,
    _read_nodes,
    _read_driver_metrics,
    _read_operator,
    _read_versions,
)
"""In order: events are selected by the names of what was read before."""
