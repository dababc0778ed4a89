"""The resource of an app on a cluster, its report and its events."""

import re
from collections.abc import Callable, Sequence

import click

from streamapp.spec.value_types.scalars import APP_NAME
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import ClusterError
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, EVENT, STREAM_APP
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole


async def read_app(cluster: ApiClusterClient, namespace: str, name: str) -> Manifest:
    """The resource of an app; a ClickException where there is none, and no other object by an odd name."""
    is_name = all(re.fullmatch(APP_NAME, part) for part in (namespace, name))
    manifest = await cluster.read(STREAM_APP, namespace, name) if is_name else None
    if manifest is None:
        raise click.ClickException(f'there is no StreamApp "{name}" in namespace {namespace}')
    return manifest


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
