"""The volume that holds the stores, of one of three kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamapp.placement.locations.pod_facts import STATE_VOLUME as VOLUME
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.state import State
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.reconciler.objects.executor_limits import STATE_OWNER

STATE_MOUNT = "/var/lib/streamapp/state"
RUNTIME_USER = 185
"""The runtime image's user; it has no name to look up in a pod of another image."""

_CLAIM = f"spark.kubernetes.executor.volumes.persistentVolumeClaim.{VOLUME}."


@dataclass(frozen=True, slots=True)
class StateVolume:
    """The parts of a pod that a state volume needs."""

    volumes: tuple[dict[str, Any], ...] = ()
    mounts: tuple[dict[str, Any], ...] = ()
    init_containers: tuple[dict[str, Any], ...] = ()
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    restricted: bool = True  # whether the pod still meets the restricted pod security standard


def state_volume(app: StreamApp, image: str, storage_class: str = "") -> StateVolume:
    """The state volume of each executor; `storage_class` is for claims that name no class."""
    kind = volume_kind(app.spec.state)
    if kind == "persistentVolumeClaim":
        return _claim(app, storage_class)
    return _in_pod(_host_path(app), image) if kind == "hostPath" else _in_pod(_empty_dir(app), "")


def volume_kind(state: State) -> str:
    """The kind of volume; `emptyDir` where none is named."""
    volumes = {"persistentVolumeClaim": state.persistent_volume_claim, "hostPath": state.host_path}
    return next((kind for kind, body in volumes.items() if body is not None), "emptyDir")


def location_provider(app: StreamApp) -> str:
    """The location provider: the node, unless the stores are bound to a pod or a volume.

    A node's name does not identify stores that end with their pod or move with their claim.
    """
    location = app.spec.placement.location
    bound_location = {"persistentVolumeClaim": "volume", "emptyDir": "pod"}.get(volume_kind(app.spec.state))
    return bound_location if location == "node" and bound_location else location


def host_path_of(app: StreamApp) -> str:
    """The app's folder on a node; empty for other kinds of volume."""
    state = app.spec.state.host_path
    return f"{state.path.rstrip('/')}/{app.metadata.namespace}/{app.application_id}" if state else ""


def _host_path(app: StreamApp) -> dict[str, Any]:
    return {"name": VOLUME, "hostPath": {"path": host_path_of(app), "type": "DirectoryOrCreate"}}


def _empty_dir(app: StreamApp) -> dict[str, Any]:
    empty_dir = app.spec.state.empty_dir
    limit = {"sizeLimit": empty_dir.size_limit} if empty_dir and empty_dir.size_limit else {}
    return {"name": VOLUME, "emptyDir": limit}


def _in_pod(volume: dict[str, Any], image: str) -> StateVolume:
    mount = {"name": VOLUME, "mountPath": STATE_MOUNT}
    if not image:
        return StateVolume((volume,), (mount,))
    # The kubelet creates the folder for root, and only root can change its owner.
    owner = {
        "name": STATE_OWNER,
        "image": image,
        "command": ["chown", f"{RUNTIME_USER}:{RUNTIME_USER}", STATE_MOUNT],
        "volumeMounts": [mount],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
        "securityContext": {
            "runAsUser": 0,
            "runAsNonRoot": False,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["CHOWN"]},
        },
    }
    return StateVolume((volume,), (mount,), (owner,), restricted=False)


def _claim(app: StreamApp, storage_class: str) -> StateVolume:
    """The claims of Spark's StatefulSet: a processor is an ordinal, so each one keeps its claim."""
    claim = app.spec.state.persistent_volume_claim
    if claim is None:
        return StateVolume()
    settings = {
        "spark.kubernetes.allocation.pods.allocator": "statefulset",
        f"{_CLAIM}options.claimName": "OnDemand",
        f"{_CLAIM}options.sizeLimit": claim.size,
        f"{_CLAIM}mount.path": STATE_MOUNT,
        f"{_CLAIM}mount.readOnly": "false",
        f"{_CLAIM}label.{APP_LABEL}": app.metadata.name,
        "spark.kubernetes.driver.ownPersistentVolumeClaim": "false",
        "spark.kubernetes.driver.reusePersistentVolumeClaim": "false",
    }
    if class_name := claim.storage_class_name or storage_class:
        settings[f"{_CLAIM}options.storageClass"] = class_name
    return StateVolume(spark_conf=settings)
