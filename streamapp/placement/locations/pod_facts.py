"""Reads from a pod of the API server the facts that decide the location of its processors."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from streamapp.placement.locations.location_providers import PodFacts

STATE_VOLUME: Final = "streamapp-state"
"""The name, or the prefix of the name, of the volume with the stores."""
EXECUTOR_ID: Final = "spark-exec-id"
"""The label with the id of the pod's Spark executor."""


def is_unschedulable(pod: Mapping[str, Any]) -> bool:
    """True if the scheduler has found no node for a pod: none has room, or its volume is on none of them."""
    scheduled = _condition(pod, "PodScheduled")
    is_refused = (scheduled.get("status"), scheduled.get("reason")) == ("False", "Unschedulable")
    return is_refused and not pod["metadata"].get("deletionTimestamp")


def is_ready(pod: Mapping[str, Any]) -> bool:
    """True if a pod passes its readiness probes."""
    return _condition(pod, "Ready").get("status") == "True"


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """A condition of a pod; empty where it has none of that type."""
    conditions: Sequence[Mapping[str, Any]] = (pod.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == kind), {})


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
