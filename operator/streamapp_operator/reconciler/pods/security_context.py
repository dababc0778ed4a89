"""The security contexts of driver and executors, by the restricted pod security standard."""

from typing import Any

from streamapp_operator.reconciler.pods.state_volume import RUNTIME_USER


def pod_security() -> dict[str, Any]:
    """The pod's context. Volumes belong to the group; large ones are not walked at each start."""
    return {
        "runAsNonRoot": True,
        "runAsUser": RUNTIME_USER,
        "runAsGroup": RUNTIME_USER,
        "fsGroup": RUNTIME_USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> dict[str, Any]:
    """The context of each container."""
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
