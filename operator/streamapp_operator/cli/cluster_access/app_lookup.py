"""The resource of an app on a cluster."""

import re

import click

from streamapp.spec.value_types.scalars import APP_NAME
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP


async def read_app(cluster: ApiClusterClient, namespace: str, name: str) -> Manifest:
    """The resource of an app; a ClickException where there is none, and no other object by an odd name."""
    is_name = all(re.fullmatch(APP_NAME, part) for part in (namespace, name))
    manifest = await cluster.read(STREAM_APP, namespace, name) if is_name else None
    if manifest is None:
        raise click.ClickException(f'there is no StreamApp "{name}" in namespace {namespace}')
    return manifest
