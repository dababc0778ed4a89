"""The driver pod of one incarnation, from the accepted template."""

from collections.abc import Mapping
from typing import Any

from streamapp.protocol.run_authentication import RUN_AUTH_VOLUME, run_auth_mount, run_auth_volume
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import driver_service, object_names
from streamapp_operator.reconciler.objects.object_metadata import (
    GENERATION_LABEL,
    INCARNATION_LABEL,
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
) -> Manifest:
    """The pod in which an accepted generation runs."""
    name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
    pod = object_names.driver(name, incarnation)
    metadata = metadata_for(
        app,
        pod,
        ObjectRole.DRIVER,
        more_labels={INCARNATION_LABEL: str(incarnation), GENERATION_LABEL: str(generation)},
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
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        **merge_template(template, {"metadata": metadata, "spec": spec}),
    }


def driver_container(pod_spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The container that StreamApp runs in, wherever the template has it; empty where there is none."""
    containers: list[Mapping[str, Any]] = pod_spec["containers"]
    return next((container for container in containers if container["name"] == DRIVER_CONTAINER), {})


def has_run_secret(pod: Manifest) -> bool:
    """Whether a driver pod waits for the Secret of its run; one of an earlier operator does not."""
    return any(volume["name"] == RUN_AUTH_VOLUME for volume in pod["spec"].get("volumes") or ())


def generation_of(pod: Manifest) -> int:
    """The accepted generation that a driver pod runs; 0 where it mounts none.

    By its volumes, which never change: anybody who may write pods can change a label.
    """
    for volume in pod["spec"].get("volumes") or ():
        if volume["name"] == ACCEPTED_VOLUME:
            return object_names.accepted_generation_in((volume.get("configMap") or {}).get("name", ""))
    return 0
