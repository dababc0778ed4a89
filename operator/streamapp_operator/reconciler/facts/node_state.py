"""What has to be known of a node: whether it is there, and since when it does not answer."""

from dataclasses import dataclass, field

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node on which a pod of ours is, or was."""

    gone: bool = False
    unready_since: float | None = None
    labels: dict[str, str] = field(default_factory=dict)


def read_node(manifest: Manifest | None) -> NodeState:
    """A node as the API server has it; one that it does not have is gone."""
    if manifest is None:
        return NodeState(gone=True)
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    ready = next((one for one in conditions if one["type"] == "Ready"), None)
    lost = ready is not None and ready.get("status") != "True"
    since = parse_timestamp(ready.get("lastTransitionTime")) if ready and lost else None
    return NodeState(unready_since=since, labels=manifest["metadata"].get("labels") or {})
