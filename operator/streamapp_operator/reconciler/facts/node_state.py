"""The state of a node: whether it exists, and since when it is not ready."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp


@dataclass(frozen=True, slots=True)
class NodeState:
    """The node of an app's pod."""

    is_gone: bool = False
    unready_since: float | None = None
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> bool:
        """True if the node exists and is ready."""
        return not self.is_gone and self.unready_since is None


def read_node(manifest: Manifest | None, first_seen: Callable[[Hashable], float]) -> NodeState:
    """The state of a node object; an absent node is gone.

    Since when a node does not answer, the control plane writes. A node that says by itself that it is not
    ready may have a wrong clock: `first_seen` tells when this state of it was first seen.
    """
    if manifest is None:
        return NodeState(is_gone=True)
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    ready: dict[str, Any] = next((each for each in conditions if each["type"] == "Ready"), {})
    since = None
    if ready and ready.get("status") != "True":
        written = ready.get("lastTransitionTime")
        seen_at = first_seen((manifest["metadata"]["name"], ready.get("status"), written))
        written_at = parse_timestamp(written) if ready.get("status") == "Unknown" else None
        since = seen_at if written_at is None else min(written_at, seen_at)
    return NodeState(unready_since=since, labels=manifest["metadata"].get("labels") or {})
