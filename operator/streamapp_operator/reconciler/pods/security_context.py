"""What driver and executors may do to the node they run on: nothing, as the restricted standard has it."""

from typing import Any

from streamapp_operator.reconciler.pods.state_volume import RUNTIME_USER


def pod_security() -> dict[str, Any]:
    """For a whole pod. Volumes belong to the group, without walking through large ones at each start."""
    return {
        "runAsNonRoot": True,
        "runAsUser": RUNTIME_USER,
        "runAsGroup": RUNTIME_USER,
        "fsGroup": RUNTIME_USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> dict[str, Any]:
    """For each container."""
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
