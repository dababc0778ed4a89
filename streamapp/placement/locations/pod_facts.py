"""Reads from a pod, as the API server has it, what tells at which location its processors are."""

from collections.abc import Mapping
from typing import Any, Final

from streamapp.placement.locations.location_providers import PodFacts

STATE_VOLUME: Final = "streamapp-state"
"""What the volume with the stores is called, or begins with."""
EXECUTOR_ID: Final = "spark-exec-id"
"""The label by which a pod tells which of Spark's executors it is."""


def pod_facts(pod: Mapping[str, Any], node_labels: Mapping[str, str] | None = None) -> PodFacts:
    """What is known of a pod; `node_labels` are those of its node, where somebody has looked."""
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
