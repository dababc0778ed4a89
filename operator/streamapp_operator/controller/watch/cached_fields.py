"""Reduces a watched object to the fields that a reconcile reads.

A thousand apps with their pods and ConfigMaps have to fit into little memory.
"""

from typing import Any

from streamapp.protocol.silent_driver import STANDBY_MANAGER
from streamapp_operator.controller.client.api_cluster_client import FIELD_MANAGER
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, CONTROLLER_REVISION, ResourceKind

MAX_CACHED_DATA = 8192
"""A ConfigMap with more characters is cached without its data; a reconcile reads the data when needed."""
_NO_AUTHORS = {FIELD_MANAGER, STANDBY_MANAGER}
_LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def cached_fields(kind: ResourceKind, manifest: Manifest) -> Manifest:
    """The object without the fields that no reconcile reads."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "managedFields"}
    annotations = metadata.get("annotations")
    if annotations and _LAST_APPLIED_ANNOTATION in annotations:
        metadata["annotations"] = {
            name: value for name, value in annotations.items() if name != _LAST_APPLIED_ANNOTATION
        }
    reduced = manifest | {"metadata": metadata}
    if kind is CONTROLLER_REVISION:
        reduced.pop("data", None)
    if kind is CONFIG_MAP:
        if last_write := _last_foreign_write(manifest):
            metadata["managedFields"] = [last_write]
        reduced.pop("binaryData", None)
        if sum(map(len, reduced.get("data", {}).values())) > MAX_CACHED_DATA:
            reduced.pop("data")
    return reduced


def foreign_write_time(manifest: Manifest) -> str:
    """The time at which somebody else than the operator last wrote to an object; empty where nobody did.

    What a standby says beside a report does not make that report newer.
    """
    return str(_last_foreign_write(manifest).get("time", ""))


def _last_foreign_write(manifest: Manifest) -> dict[str, Any]:
    """The manager and the time of that write."""
    writes: list[Manifest] = manifest["metadata"].get("managedFields") or []
    foreign = [write for write in writes if write.get("time") and write.get("manager") not in _NO_AUTHORS]
    last = max(foreign, key=lambda write: str(write["time"]), default={})
    return {name: last[name] for name in ("manager", "time") if name in last}
