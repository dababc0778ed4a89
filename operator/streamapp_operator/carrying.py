"""Carries out what was decided, write by write."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamapp_operator.cluster.answers import Answer
from streamapp_operator.cluster.cluster import Cluster
from streamapp_operator.cluster.kinds import kind_of
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.objects.owned import is_owned
from streamapp_operator.verdict import Apply, Create, Delete, Write


@dataclass(frozen=True, slots=True)
class Foreign:
    """An object that has a name of ours and is not this app's: of one that is just being deleted, mostly."""

    kind: str
    name: str


async def carry_out(cluster: Cluster, app: Manifest, writes: Iterable[Write]) -> Foreign | None:
    """Do it in order; the first object that stands in the way ends it."""
    namespace = app["metadata"]["namespace"]
    for write in writes:
        match write:
            case Create(manifest=manifest):
                if await cluster.create(manifest) is Answer.EXISTS:
                    foreign = await _foreign(cluster, app, manifest)
                    if foreign is not None:
                        return foreign
            case Apply(manifest=manifest):
                await cluster.apply(manifest)
            case Delete(kind=kind, name=name, uid=uid, grace_seconds=grace):
                await cluster.delete(kind, namespace, name, uid, grace)
    return None


async def _foreign(cluster: Cluster, app: Manifest, manifest: Manifest) -> Foreign | None:
    """What exists is adopted by its owner's uid: a write that was made before a crash is not made again."""
    kind, metadata = kind_of(manifest), manifest["metadata"]
    there = await cluster.read(kind, metadata["namespace"], metadata["name"])
    if there is not None and is_owned(there, app):
        return None
    return Foreign(kind.name, metadata["name"])
