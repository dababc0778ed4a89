"""Compares the cache with the API server, to find changes that a broken watch missed."""

from collections.abc import AsyncIterator

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import DefinitionMissingError, RejectedError
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import STREAM_APP, ResourceKind
from streamapp_operator.controller.watch.object_cache import ObjectCache

NOT_FOUND = 404


async def fill_cache(cluster: ApiClusterClient, cache: ObjectCache, kind: ResourceKind) -> None:
    """Read all objects of a kind into the cache."""
    async for manifest in _listed(cluster, kind):
        cache.put(kind, manifest)


async def compare_cache(cluster: ApiClusterClient, cache: ObjectCache, kind: ResourceKind) -> list[AppKey]:
    """Correct the cache; returns the app of each object that differed.

    Only names and versions are listed. Each object that differs is read, so that an object that changes in
    the meantime is never taken for a deleted one.
    """
    cached_versions = cache.versions(kind)
    current_versions = {}
    async for manifest in _listed(cluster, kind, metadata_only=True):
        metadata = manifest["metadata"]
        current_versions[metadata["namespace"], metadata["name"]] = metadata["resourceVersion"]
    changed_keys = []
    for object_name in sorted(cached_versions.keys() | current_versions.keys()):
        if cached_versions.get(object_name) != current_versions.get(object_name):
            key = await _refresh(cluster, cache, kind, *object_name)
            changed_keys += [key] if key is not None else []
    return changed_keys


async def _listed(
    cluster: ApiClusterClient, kind: ResourceKind, *, metadata_only: bool = False
) -> AsyncIterator[Manifest]:
    """All watched objects of a kind; a DefinitionMissingError where the API server does not know the kind."""
    try:
        async for manifest in cluster.list_objects(kind, None, watch_selector(kind), metadata_only):
            yield manifest
    except RejectedError as error:
        if error.code != NOT_FOUND:
            raise
        raise DefinitionMissingError(
            f"the cluster has no CustomResourceDefinition {kind.plural}.{kind.group}; bring it back, and the "
            "apps, which went with it: streamapp crd | kubectl apply --server-side -f -"
        ) from None


async def _refresh(
    cluster: ApiClusterClient, cache: ObjectCache, kind: ResourceKind, namespace: str, name: str
) -> AppKey | None:
    """Read one object into the cache; returns its app if the cached object differed."""
    manifest = await cluster.read(kind, namespace, name)
    if manifest is not None and (kind is STREAM_APP or APP_LABEL in manifest["metadata"].get("labels", {})):
        return cache.put(kind, manifest)
    return cache.forget(kind, namespace, name)


def watch_selector(kind: ResourceKind) -> str:
    """The label selector of a kind's watch: all apps, and objects with an app's label."""
    return "" if kind is STREAM_APP else APP_LABEL
