"""Edge: the apps of a cluster, by namespace and applicationId."""

from collections.abc import Sequence
from datetime import UTC, datetime

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP


async def known_apps(namespaces: Sequence[str]) -> set[tuple[str, str]]:
    """The identities of all apps, of every operatorClass: another operator's apps own their folders too."""
    transport = ApiTransport(await load_configuration(), lambda _, __: None)
    try:
        cluster = ApiClusterClient(transport, namespaces, lambda: 0.0, lambda: datetime.now(UTC))
        return {app_identity(app) async for app in cluster.list_objects(STREAM_APP, None)}
    finally:
        await transport.close()


def app_identity(app: Manifest) -> tuple[str, str]:
    """Namespace and application id, as in the folder's path; an otherwise invalid app keeps its state too."""
    name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
    return namespace, app["spec"].get("applicationId") or f"{namespace}.{name}"
