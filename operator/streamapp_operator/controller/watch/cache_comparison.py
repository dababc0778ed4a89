"""The cache compared with what there is: what changed or vanished while a watch was broken is noticed."""

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.resource_kinds import STREAM_APP, ResourceKind
from streamapp_operator.controller.watch.object_cache import ObjectCache


async def fill_cache(cluster: ApiClusterClient, cache: ObjectCache, kind: ResourceKind) -> None:
    """Read all objects of a kind into the cache."""
    async for found in cluster.listed(kind, None, watch_selector(kind)):
        cache.put(kind, found)


async def compare_cache(cluster: ApiClusterClient, cache: ObjectCache, kind: ResourceKind) -> list[AppKey]:
    """Put the cache right; the app of each object that it was wrong about.

    Only names and versions are listed. What differs is read by itself, so that an object which
    changes in the meantime is never taken for one that is gone.
    """
    before = cache.versions(kind)
    there = {}
    async for found in cluster.listed(kind, None, watch_selector(kind), metadata_only=True):
        metadata = found["metadata"]
        there[metadata["namespace"], metadata["name"]] = metadata["resourceVersion"]
    wrong = []
    for place in sorted(before.keys() | there.keys()):
        if before.get(place) != there.get(place):
            key = await _read(cluster, cache, kind, *place)
            wrong += [key] if key is not None else []
    return wrong


async def _read(
    cluster: ApiClusterClient, cache: ObjectCache, kind: ResourceKind, namespace: str, name: str
) -> AppKey | None:
    """Remember one object as it is; its app, if the cache was wrong about it."""
    found = await cluster.read(kind, namespace, name)
    if found is not None and (kind is STREAM_APP or APP_LABEL in found["metadata"].get("labels", {})):
        return cache.put(kind, found)
    return cache.lose(kind, namespace, name)


def watch_selector(kind: ResourceKind) -> str:
    """Which objects of a kind are watched: all apps, and what carries the label of one."""
    return "" if kind is STREAM_APP else APP_LABEL
