"""What is kept of an object that a watch has shown: all that steps look at, and no more.

A thousand apps with their pods and ConfigMaps have to fit into little memory.
"""

from streamapp_operator.cluster.kinds import CONFIG_MAP, Kind
from streamapp_operator.cluster.manifest import Manifest

LONGEST = 8192
"""Data of ConfigMaps that has more characters is not kept; whoever needs it reads it."""
_BOOKS = "kubectl.kubernetes.io/last-applied-configuration"


def remembered(kind: Kind, manifest: Manifest) -> Manifest:
    """The object without what nobody here looks at."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "managedFields"}
    notes = metadata.get("annotations")
    if notes and _BOOKS in notes:
        metadata["annotations"] = {name: value for name, value in notes.items() if name != _BOOKS}
    kept = manifest | {"metadata": metadata}
    if kind is CONFIG_MAP:
        kept.pop("binaryData", None)
        if sum(map(len, kept.get("data", {}).values())) > LONGEST:
            kept.pop("data")
    return kept
