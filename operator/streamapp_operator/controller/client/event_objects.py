"""Events as objects: what is told of an app, under a name that is the same when it is told again."""

from datetime import datetime
from hashlib import sha256
from typing import Literal

from streamapp_operator.controller.client.manifest import Manifest

COMPONENT = "streamapp-operator"
MAX_EVENT_MESSAGE = 1024
"""The API server takes no longer one."""


def event_object(
    app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str, now: datetime
) -> Manifest:
    """An event of an app, told the first time."""
    metadata = app["metadata"]
    told = "\n".join((metadata["uid"], type_, reason, message))
    at = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name']}.{sha256(told.encode()).hexdigest()[:16]}",
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
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }


def repeated_event(event: Manifest, now: datetime) -> Manifest:
    """What changes of an event that is told again."""
    return {"count": event.get("count", 1) + 1, "lastTimestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
