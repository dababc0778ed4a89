"""Carries out what was decided, write by write."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamapp_operator.controller.client.api_errors import WriteConflict
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import kind_of
from streamapp_operator.reconciler.objects.object_metadata import is_owned
from streamapp_operator.reconciler.writes.reconcile_decision import Apply, Create, Delete, Write


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """An object that has a name of ours and is not this app's: of one that is just being deleted, mostly."""

    kind: str
    name: str


async def execute_writes(
    cluster: ClusterClient, app: Manifest, writes: Iterable[Write]
) -> ForeignObject | None:
    """Do it in order; the first object that stands in the way ends it."""
    namespace = app["metadata"]["namespace"]
    for write in writes:
        match write:
            case Create(manifest=manifest):
                if await cluster.create(manifest) is WriteConflict.EXISTS:
                    foreign = await _foreign(cluster, app, manifest)
                    if foreign is not None:
                        return foreign
            case Apply(manifest=manifest):
                await cluster.apply(manifest)
            case Delete(kind=kind, name=name, uid=uid, grace_seconds=grace):
                await cluster.delete(kind, namespace, name, uid, grace)
    return None


async def _foreign(cluster: ClusterClient, app: Manifest, manifest: Manifest) -> ForeignObject | None:
    """What exists is adopted by its owner's uid: a write that was made before a crash is not made again."""
    kind, metadata = kind_of(manifest), manifest["metadata"]
    there = await cluster.read(kind, metadata["namespace"], metadata["name"])
    if there is not None and is_owned(there, app):
        return None
    return ForeignObject(kind.name, metadata["name"])
