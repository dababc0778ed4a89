"""The ConfigMaps of drivers' reports, as a command reads them with the rights of its user."""

from collections.abc import Sequence

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole


async def read_report_maps(
    cluster: ApiClusterClient, namespace: str | None, app: str | None = None
) -> tuple[Sequence[Manifest], tuple[str, ...]]:
    """Those of a namespace or of all (None), or of one app; and a notice where they cannot be read.

    One app's is read by its name, which takes no right to list.
    """
    try:
        if app is None or namespace is None:
            labels = {ROLE_LABEL: ObjectRole.REPORT.value}
            return await cluster.select(CONFIG_MAP, namespace, labels), ()
        config_map = await cluster.read(CONFIG_MAP, namespace, object_names.report(app))
    except ClusterError as error:
        return (), (f"the drivers' reports: {error}",)
    return (() if config_map is None else (config_map,)), ()
