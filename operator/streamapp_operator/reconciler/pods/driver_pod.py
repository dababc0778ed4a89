"""The driver pod of one incarnation, from the accepted template."""

from collections.abc import Mapping
from typing import Any

from streamapp.protocol.message_names import EARLY_EXECUTORS, INCARNATION, READINESS_PATH, STANDBY
from streamapp.protocol.run_authentication import RUN_AUTH_VOLUME, run_auth_mount, run_auth_volume
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import driver_service, object_names
from streamapp_operator.reconciler.objects.object_metadata import (
    GENERATION_LABEL,
    ObjectRole,
    metadata_for,
)
from streamapp_operator.reconciler.pods.driver_template import ACCEPTED_VOLUME, DRIVER_CONTAINER
from streamapp_operator.reconciler.pods.template_merge import merge_template


def driver_pod(
    app: Manifest,
    template: Mapping[str, Any],
    generation: int,
    incarnation: int,
    annotations: Mapping[str, str],
    *,
    standby: bool = False,
    early_executors: bool = False,
) -> Manifest:
    """The pod in which an accepted generation runs; a `standby` warms up until it is to take over.

    With `early_executors` the executors of a standby start before it takes over.
    """
    name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
    pod = object_names.driver(name, incarnation)
    metadata = metadata_for(
        app,
        pod,
        ObjectRole.DRIVER,
        more_labels={INCARNATION: str(incarnation), GENERATION_LABEL: str(generation)},
        annotations=annotations,
    )
    environment = [
        {"name": "STREAMAPP_INCARNATION", "value": str(incarnation)},
        {"name": "STREAMAPP_DRIVER_HOST", "value": driver_service.driver_host(name, namespace, incarnation)},
        {"name": "STREAMAPP_RUN_SECRET", "value": object_names.run_secret(pod)},
    ]
    spec = {
        "hostname": pod,
        "volumes": [
            {"name": ACCEPTED_VOLUME, "configMap": {"name": object_names.accepted(name, generation)}},
            run_auth_volume(object_names.run_secret(pod)),
        ],
        "containers": [{"name": DRIVER_CONTAINER, "env": environment, "volumeMounts": [run_auth_mount()]}],
    }
    merged = merge_template(template, {"metadata": metadata, "spec": spec})
    if standby:
        _make_standby(merged["spec"], [STANDBY, *([EARLY_EXECUTORS] if early_executors else [])])
    return {"apiVersion": "v1", "kind": "Pod", **merged}


def _make_standby(spec: dict[str, Any], options: list[str]) -> None:
    """Have the driver of a pod wait, and be ready once it can take over."""
    container = dict(driver_container(spec))
    probe = container["readinessProbe"]
    container["args"] = [*container["args"], *options]
    container["readinessProbe"] = {**probe, "httpGet": {**probe["httpGet"], "path": READINESS_PATH}}
    spec["containers"] = [
        container if other["name"] == DRIVER_CONTAINER else other for other in spec["containers"]
    ]


def is_standby(pod: Manifest) -> bool:
    """True if a pod was made as a standby driver. It may have taken over since."""
    return STANDBY in (driver_container(pod["spec"]).get("args") or ())


def has_early_executors(pod: Manifest) -> bool:
    """True if the executors of a standby driver start before it takes over."""
    return EARLY_EXECUTORS in (driver_container(pod["spec"]).get("args") or ())


def driver_container(pod_spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The container that StreamApp runs in, wherever the template has it; empty where there is none."""
    containers: list[Mapping[str, Any]] = pod_spec["containers"]
    return next((container for container in containers if container["name"] == DRIVER_CONTAINER), {})


def has_run_secret(pod: Manifest) -> bool:
    """True if a driver pod waits for the Secret of its run; one of an earlier operator does not."""
    return any(volume["name"] == RUN_AUTH_VOLUME for volume in pod["spec"].get("volumes") or ())


def generation_of(pod: Manifest) -> int:
    """The accepted generation that a driver pod runs; 0 where it mounts none.

    By its volumes, which never change: anybody who may write pods can change a label.
    """
    for volume in pod["spec"].get("volumes") or ():
        if volume["name"] == ACCEPTED_VOLUME:
            return object_names.accepted_generation_in((volume.get("configMap") or {}).get("name", ""))
    return 0
