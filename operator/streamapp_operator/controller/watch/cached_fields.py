"""Reduces a watched object to the fields that a reconcile reads.

A thousand apps with their pods and ConfigMaps have to fit into little memory.
"""

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, CONTROLLER_REVISION, ResourceKind

MAX_CACHED_DATA = 8192
"""A ConfigMap with more characters is cached without its data; a reconcile reads the data when needed."""
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
        reduced.pop("binaryData", None)
        if sum(map(len, reduced.get("data", {}).values())) > MAX_CACHED_DATA:
            reduced.pop("data")
    return reduced
