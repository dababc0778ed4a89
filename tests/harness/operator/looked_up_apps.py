"""Apps whose partition counts are looked up, and the Secrets that they name."""

import asyncio
from base64 import b64encode
from typing import Any

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.reconciler.partition_counts.lookup_results import PartitionCounts, PendingCounts
from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
from tests.harness.operator.small_apps import join


class Secrets:
    """A cluster that has Secrets and nothing else."""

    def __init__(self, **found: dict[str, str]) -> None:
        self._found = found

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        entries = self._found.get(name)
        if entries is None or namespace != "shop":
            return None
        return {"data": {key: b64encode(value.encode()).decode() for key, value in entries.items()}}

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is not asked for counts")


def app(
    brokers: str,
    prefix: str = "",
    credentials: str | None = None,
    name: str = "app",
    config: dict[str, str] | None = None,
    **spec: Any,
) -> StreamApp:
    """An app in the namespace `shop` whose streams are in one cluster."""
    kafka: dict[str, Any] = {"bootstrapServers": brokers, "config": config or {}}
    if credentials:
        kafka["configSecret"] = {"name": credentials}
    data = join(systems=[{"name": "main", "kafka": kafka}], **spec)
    data["metadata"] |= {"namespace": "shop", "name": name}
    for stream in data["spec"]["streams"]:
        stream["topic"] = f"{prefix}{stream['name']}"
    (found,) = parse_data(data).apps
    return found


async def answered(lookups: LivePartitionLookup, asked: StreamApp) -> PartitionCounts:
    """The counts, or why there are none, once they are no longer pending."""
    async with asyncio.timeout(60):
        while isinstance(counts := await lookups.counts(asked), PendingCounts):
            await asyncio.sleep(0)
    return counts


def cast_cluster(found: Secrets) -> ClusterClient:
    """The cluster for a look-up."""
    cluster: Any = found
    return cluster
