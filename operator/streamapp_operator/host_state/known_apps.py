"""Edge: which apps there are, by namespace and applicationId."""

from collections.abc import Sequence
from datetime import UTC, datetime

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP


async def known_apps(namespaces: Sequence[str]) -> set[tuple[str, str]]:
    """All apps, of every operatorClass: whoever looks after them, the folders are theirs."""
    calls = ApiTransport(await load_configuration(), lambda _, __: None)
    try:
        cluster = ApiClusterClient(calls, namespaces, lambda: 0.0, lambda: datetime.now(UTC))
        return {app_identity(app) async for app in cluster.listed(STREAM_APP, None)}
    finally:
        await calls.close()


def app_identity(app: Manifest) -> tuple[str, str]:
    """As its folder names it; an app that is wrong in all else keeps its state too."""
    name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
    return namespace, app["spec"].get("applicationId") or f"{namespace}.{name}"
