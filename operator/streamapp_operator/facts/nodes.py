"""What has to be known of a node: whether it is there, and since when it does not answer."""

from dataclasses import dataclass, field

from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.facts.times import seconds


@dataclass(frozen=True, slots=True)
class Node:
    """A node on which a pod of ours is, or was."""

    gone: bool = False
    unready_since: float | None = None
    labels: dict[str, str] = field(default_factory=dict)


def node(manifest: Manifest | None) -> Node:
    """A node as the API server has it; one that it does not have is gone."""
    if manifest is None:
        return Node(gone=True)
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    ready = next((one for one in conditions if one["type"] == "Ready"), None)
    lost = ready is not None and ready.get("status") != "True"
    since = seconds(ready.get("lastTransitionTime")) if ready and lost else None
    return Node(unready_since=since, labels=manifest["metadata"].get("labels") or {})
