"""Reads from a pod of the API server the facts that decide the location of its processors."""

from collections.abc import Mapping
from typing import Any, Final

from streamapp.placement.locations.location_providers import PodFacts

STATE_VOLUME: Final = "streamapp-state"
"""The name, or the prefix of the name, of the volume with the stores."""
EXECUTOR_ID: Final = "spark-exec-id"
"""The label with the id of the pod's Spark executor."""


def is_unschedulable(pod: Mapping[str, Any]) -> bool:
    """Whether the scheduler has found no node for a pod: none has room, or its volume is on none of them."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return not pod["metadata"].get("deletionTimestamp") and any(
        (condition.get("type"), condition.get("status"), condition.get("reason"))
        == ("PodScheduled", "False", "Unschedulable")
        for condition in conditions
    )


def pod_facts(pod: Mapping[str, Any], node_labels: Mapping[str, str] | None = None) -> PodFacts:
    """The facts of a pod; `node_labels` are the labels of its node, where the caller has read them."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    claims = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"]
        for volume in spec.get("volumes") or ()
        if "persistentVolumeClaim" in volume
    }
    return PodFacts(
        metadata["name"],
        metadata.get("uid", ""),
        spec.get("nodeName", ""),
        metadata.get("labels") or {},
        node_labels or {},
        claims,
        next((name for name in claims if name.startswith(STATE_VOLUME)), STATE_VOLUME),
    )
