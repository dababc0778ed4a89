"""Event objects of an app, named by a hash of their content so that a repeated event finds the first."""

from datetime import datetime
from hashlib import sha256
from typing import Literal

from streamapp_operator.controller.client.manifest import Manifest

COMPONENT = "streamapp-operator"
MAX_EVENT_MESSAGE = 1024
"""The API server's limit."""


def event_object(
    app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str, now: datetime
) -> Manifest:
    """An app's event, at its first occurrence."""
    metadata = app["metadata"]
    content = "\n".join((metadata["uid"], type_, reason, message))
    timestamp = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name']}.{sha256(content.encode()).hexdigest()[:16]}",
            "namespace": metadata["namespace"],
        },
        "involvedObject": {
            "apiVersion": app["apiVersion"],
            "kind": app["kind"],
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "resourceVersion": metadata.get("resourceVersion", ""),
        },
        "type": type_,
        "reason": reason,
        "message": message if len(message) <= MAX_EVENT_MESSAGE else f"{message[: MAX_EVENT_MESSAGE - 3]}...",
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": timestamp,
        "lastTimestamp": timestamp,
        "count": 1,
    }


def repeated_event(event: Manifest, now: datetime) -> Manifest:
    """The patch for an event that occurs again."""
    return {"count": event.get("count", 1) + 1, "lastTimestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
