"""The state of a node: whether it exists, and since when it is not ready."""

from dataclasses import dataclass, field

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp


@dataclass(frozen=True, slots=True)
class NodeState:
    """The node of an app's pod."""

    is_gone: bool = False
    unready_since: float | None = None
    labels: dict[str, str] = field(default_factory=dict)


def read_node(manifest: Manifest | None) -> NodeState:
    """The state of a node object; an absent node is gone."""
    if manifest is None:
        return NodeState(is_gone=True)
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    ready = next((condition for condition in conditions if condition["type"] == "Ready"), None)
    is_unready = ready is not None and ready.get("status") != "True"
    since = parse_timestamp(ready.get("lastTransitionTime")) if ready and is_unready else None
    return NodeState(unready_since=since, labels=manifest["metadata"].get("labels") or {})
