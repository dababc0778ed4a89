"""The cache compared with what there is: what changed or vanished while a watch was broken is noticed."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.cache import Cache
from streamapp_operator.cluster.kinds import STREAM_APP, Kind
from streamapp_operator.cluster.labels import APP
from streamapp_operator.key import Key


@dataclass(frozen=True, slots=True)
class Comparison:
    """What reads the cluster, and whom it tells."""

    cluster: ApiCluster
    cache: Cache
    changed: Callable[[Key], None]

    async def fill(self, kind: Kind) -> None:
        """Read all objects of a kind into the cache."""
        async for found in self.cluster.listed(kind, None, selector(kind)):
            key = self.cache.put(kind, found)
            if key is not None:
                self.changed(key)

    async def compare(self, kind: Kind) -> int:
        """Put the cache right; how many objects it was wrong about.

        Only names and versions are listed. What differs is read by itself, so that an object which
        changes in the meantime is never taken for one that is gone.
        """
        before = self.cache.versions(kind)
        there = {}
        async for found in self.cluster.listed(kind, None, selector(kind), metadata_only=True):
            metadata = found["metadata"]
            there[metadata["namespace"], metadata["name"]] = metadata["resourceVersion"]
        wrong = 0
        for place in sorted(before.keys() | there.keys()):
            if before.get(place) != there.get(place):
                wrong += await self._read(kind, *place)
        return wrong

    async def _read(self, kind: Kind, namespace: str, name: str) -> bool:
        """Remember one object as it is; whether the cache was wrong about it."""
        found = await self.cluster.read(kind, namespace, name)
        if found is not None and (kind is STREAM_APP or APP in found["metadata"].get("labels", {})):
            key = self.cache.put(kind, found)
        else:
            key = self.cache.lose(kind, namespace, name)
        if key is None:
            return False
        self.changed(key)
        return True


def selector(kind: Kind) -> str:
    """Which objects of a kind are watched: all apps, and what carries the label of one."""
    return "" if kind is STREAM_APP else APP
