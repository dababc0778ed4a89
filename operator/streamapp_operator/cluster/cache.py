"""What the watches have seen, last of each object; steps that create or destroy read live first."""

from collections.abc import Iterator

from streamapp_operator.cluster.kinds import CONFIG_MAP, POD, STREAM_APP, Kind
from streamapp_operator.cluster.labels import APP
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.key import Key

_CHILDREN = (POD, CONFIG_MAP)


class Cache:
    """Apps, and their pods and ConfigMaps by the label of the app. Whoever reads, does not write into it."""

    def __init__(self) -> None:
        self._apps: dict[Key, Manifest] = {}
        self._children: dict[Kind, dict[Key, dict[str, Manifest]]] = {kind: {} for kind in _CHILDREN}

    def app(self, key: Key) -> Manifest | None:
        """The StreamApp."""
        return self._apps.get(key)

    def keys(self) -> Iterator[Key]:
        """All apps."""
        return iter(tuple(self._apps))

    def pods(self, key: Key) -> tuple[Manifest, ...]:
        """The pods that carry the app's label, by name."""
        return self._of(POD, key)

    def config_maps(self, key: Key) -> tuple[Manifest, ...]:
        """The ConfigMaps that carry the app's label, by name."""
        return self._of(CONFIG_MAP, key)

    def _of(self, kind: Kind, key: Key) -> tuple[Manifest, ...]:
        found = self._children[kind].get(key, {})
        return tuple(found[name] for name in sorted(found))

    def put(self, kind: Kind, manifest: Manifest) -> Key:
        """Remember an object as it is now; the app it is about."""
        key = app_of(kind, manifest)
        if kind is STREAM_APP:
            self._apps[key] = manifest
        else:
            self._children[kind].setdefault(key, {})[manifest["metadata"]["name"]] = manifest
        return key

    def drop(self, kind: Kind, manifest: Manifest) -> Key:
        """Forget an object that is gone; the app it was about."""
        key = app_of(kind, manifest)
        if kind is STREAM_APP:
            self._apps.pop(key, None)
            return key
        found = self._children[kind].get(key, {})
        found.pop(manifest["metadata"]["name"], None)
        if not found:
            self._children[kind].pop(key, None)
        return key


def app_of(kind: Kind, manifest: Manifest) -> Key:
    """The app that an object is or belongs to."""
    metadata = manifest["metadata"]
    name = metadata["name"] if kind is STREAM_APP else metadata["labels"][APP]
    return Key(metadata["namespace"], name)
