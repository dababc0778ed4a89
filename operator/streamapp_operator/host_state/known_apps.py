"""Edge: the apps of a cluster."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP
from streamapp_operator.host_state.orphaned_folders import KnownApp


async def known_apps(namespaces: Sequence[str]) -> list[KnownApp]:
    """All apps, of every operatorClass: another operator's apps own their folders too."""
    transport = ApiTransport(await load_configuration(), lambda _, __: None)
    try:
        cluster = ApiClusterClient(transport, namespaces, lambda: 0.0, transport.clock.now)
        return [known_app(app) async for app in cluster.list_objects(STREAM_APP, None)]
    finally:
        await transport.close()


def known_app(app: Manifest) -> KnownApp:
    """The identity by which an app's folder is known; an otherwise invalid app keeps its state too."""
    metadata, spec = app["metadata"], app["spec"]
    name, namespace = metadata["name"], metadata["namespace"]
    path = ((spec.get("state") or {}).get("hostPath") or {}).get("path")
    return KnownApp(
        namespace=namespace,
        name=name,
        uid=metadata["uid"],
        application_id=spec.get("applicationId") or f"{namespace}.{name}",
        root=str(PurePosixPath(path)) if path else "",
    )
