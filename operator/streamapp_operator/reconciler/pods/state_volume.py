"""The volume that holds the stores: of three kinds, each with what it asks of the executors' pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamapp.placement.locations.pod_facts import STATE_VOLUME as VOLUME
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.state import State
from streamapp_operator.controller.client.labels import APP_LABEL

STATE_MOUNT = "/var/lib/streamapp/state"
RUNTIME_USER = 185
"""The runtime image's user; it has no name to look up in a pod of another image."""

_CLAIM = f"spark.kubernetes.executor.volumes.persistentVolumeClaim.{VOLUME}."


@dataclass(frozen=True, slots=True)
class StateVolume:
    """What a pod with the stores needs beside its containers."""

    volumes: tuple[dict[str, Any], ...] = ()
    mounts: tuple[dict[str, Any], ...] = ()
    init_containers: tuple[dict[str, Any], ...] = ()
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    restricted: bool = True  # whether the pod still meets the restricted pod security standard


def state_volume(app: StreamApp, image: str, storage_class: str = "") -> StateVolume:
    """The state volume of each executor; claims that name no class are of the one given."""
    kind = volume_kind(app.spec.state)
    if kind == "persistentVolumeClaim":
        return _claim(app, storage_class)
    return _in_pod(_host_path(app), image) if kind == "hostPath" else _in_pod(_empty_dir(app), "")


def volume_kind(state: State) -> str:
    """The kind of volume; `emptyDir` where none is named."""
    named = {"persistentVolumeClaim": state.persistent_volume_claim, "hostPath": state.host_path}
    return next((kind for kind, body in named.items() if body is not None), "emptyDir")


def location_provider(app: StreamApp) -> str:
    """What a location is: the node, unless the stores are bound to less than a node.

    A node's name says nothing of stores that end with their pod, or that a claim takes to another node.
    """
    asked = app.spec.placement.location
    bound = {"persistentVolumeClaim": "volume", "emptyDir": "pod"}.get(volume_kind(app.spec.state))
    return bound if asked == "node" and bound else asked


def host_path_of(app: StreamApp) -> str:
    """The folder of a node that belongs to this app alone; empty where its state is elsewhere."""
    state = app.spec.state.host_path
    return f"{state.path.rstrip('/')}/{app.metadata.namespace}/{app.application_id}" if state else ""


def _host_path(app: StreamApp) -> dict[str, Any]:
    return {"name": VOLUME, "hostPath": {"path": host_path_of(app), "type": "DirectoryOrCreate"}}


def _empty_dir(app: StreamApp) -> dict[str, Any]:
    asked = app.spec.state.empty_dir
    limit = {"sizeLimit": asked.size_limit} if asked and asked.size_limit else {}
    return {"name": VOLUME, "emptyDir": limit}


def _in_pod(volume: dict[str, Any], image: str) -> StateVolume:
    mount = {"name": VOLUME, "mountPath": STATE_MOUNT}
    if not image:
        return StateVolume((volume,), (mount,))
    # The kubelet makes the folder as root's; nothing but root can give it to the user that needs it.
    owner = {
        "name": "streamapp-state-owner",
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
    """Claims come from the StatefulSet that Spark makes: processor = ordinal, so each finds its own again."""
    claim = app.spec.state.persistent_volume_claim
    if claim is None:
        return StateVolume()
    conf = {
        "spark.kubernetes.allocation.pods.allocator": "statefulset",
        f"{_CLAIM}options.claimName": "OnDemand",
        f"{_CLAIM}options.sizeLimit": claim.size,
        f"{_CLAIM}mount.path": STATE_MOUNT,
        f"{_CLAIM}mount.readOnly": "false",
        f"{_CLAIM}label.{APP_LABEL}": app.metadata.name,
        "spark.kubernetes.driver.ownPersistentVolumeClaim": "false",
        "spark.kubernetes.driver.reusePersistentVolumeClaim": "false",
    }
    if named := claim.storage_class_name or storage_class:
        conf[f"{_CLAIM}options.storageClass"] = named
    return StateVolume(spark_conf=conf)
