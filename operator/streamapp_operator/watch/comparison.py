"""The cache compared with what there is: what changed or vanished while a watch was broken is noticed."""

from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.cache import Cache
from streamapp_operator.cluster.kinds import STREAM_APP, Kind
from streamapp_operator.cluster.labels import APP
from streamapp_operator.key import Key


async def fill(cluster: ApiCluster, cache: Cache, kind: Kind) -> None:
    """Read all objects of a kind into the cache."""
    async for found in cluster.listed(kind, None, selector(kind)):
        cache.put(kind, found)


async def compare(cluster: ApiCluster, cache: Cache, kind: Kind) -> list[Key]:
    """Put the cache right; the app of each object that it was wrong about.

    Only names and versions are listed. What differs is read by itself, so that an object which
    changes in the meantime is never taken for one that is gone.
    """
    before = cache.versions(kind)
    there = {}
    async for found in cluster.listed(kind, None, selector(kind), metadata_only=True):
        metadata = found["metadata"]
        there[metadata["namespace"], metadata["name"]] = metadata["resourceVersion"]
    wrong = []
    for place in sorted(before.keys() | there.keys()):
        if before.get(place) != there.get(place):
            key = await _read(cluster, cache, kind, *place)
            wrong += [key] if key is not None else []
    return wrong


async def _read(cluster: ApiCluster, cache: Cache, kind: Kind, namespace: str, name: str) -> Key | None:
    """Remember one object as it is; its app, if the cache was wrong about it."""
    found = await cluster.read(kind, namespace, name)
    if found is not None and (kind is STREAM_APP or APP in found["metadata"].get("labels", {})):
        return cache.put(kind, found)
    return cache.lose(kind, namespace, name)


def selector(kind: Kind) -> str:
    """Which objects of a kind are watched: all apps, and what carries the label of one."""
    return "" if kind is STREAM_APP else APP
