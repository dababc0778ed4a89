"""Executes the writes of a decision."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from streamapp_operator.controller.client.api_errors import WriteConflict
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import kind_of
from streamapp_operator.reconciler.objects.object_metadata import is_owned, may_change
from streamapp_operator.reconciler.writes.reconcile_decision import Apply, Create, Delete, Write


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """An object with the name of an app's object and another owner, mostly a deleted app of the same name."""

    kind: str
    name: str


async def execute_writes(
    cluster: ClusterClient, app: Manifest, writes: Iterable[Write]
) -> ForeignObject | None:
    """Execute the writes in order; stop at the first foreign object and return it."""
    namespace = app["metadata"]["namespace"]
    for write in writes:
        match write:
            case Create(manifest=manifest):
                if await cluster.create(manifest) is WriteConflict.EXISTS:
                    foreign = await _foreign(cluster, app, manifest)
                    if foreign is not None:
                        return foreign
            case Apply(manifest=manifest):
                applied = await cluster.apply(manifest, partial(may_change, app=app))
                if applied is WriteConflict.EXISTS:
                    return ForeignObject(kind_of(manifest).name, manifest["metadata"]["name"])
            case Delete(kind=kind, name=name, uid=uid, grace_seconds=grace):
                await cluster.delete(kind, namespace, name, uid, grace)
    return None


async def _foreign(cluster: ClusterClient, app: Manifest, manifest: Manifest) -> ForeignObject | None:
    """The existing object if it has another owner; an own object was created before a crash."""
    kind, metadata = kind_of(manifest), manifest["metadata"]
    existing = await cluster.read(kind, metadata["namespace"], metadata["name"])
    if existing is not None and is_owned(existing, app):
        return None
    return ForeignObject(kind.name, metadata["name"])
