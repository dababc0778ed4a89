"""The events of an app's namespace."""

from collections.abc import Callable

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import EVENT


async def read_events(
    cluster: ApiClusterClient, namespace: str, is_involved: Callable[[str], bool]
) -> list[Manifest]:
    """The events of objects with such names, the newest last."""
    events = [
        event
        async for event in cluster.list_objects(EVENT, namespace)
        if is_involved(str(event["involvedObject"].get("name", "")))
    ]
    return sorted(events, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
