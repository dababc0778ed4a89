"""What is kept of an object that a watch has shown: all that steps look at, and no more.

A thousand apps with their pods and ConfigMaps have to fit into little memory.
"""

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, ResourceKind

MAX_CACHED_DATA = 8192
"""Data of ConfigMaps that has more characters is not kept; whoever needs it reads it."""
_BOOKS = "kubectl.kubernetes.io/last-applied-configuration"


def cached_fields(kind: ResourceKind, manifest: Manifest) -> Manifest:
    """The object without what nobody here looks at."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "managedFields"}
    notes = metadata.get("annotations")
    if notes and _BOOKS in notes:
        metadata["annotations"] = {name: value for name, value in notes.items() if name != _BOOKS}
    kept = manifest | {"metadata": metadata}
    if kind is CONFIG_MAP:
        kept.pop("binaryData", None)
        if sum(map(len, kept.get("data", {}).values())) > MAX_CACHED_DATA:
            kept.pop("data")
    return kept
