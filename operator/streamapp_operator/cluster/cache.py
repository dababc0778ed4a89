"""What the watches have seen, last of each object; steps that create or destroy read live first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from streamapp_operator.cluster.kinds import CONFIG_MAP, POD, STREAM_APP, Kind
from streamapp_operator.cluster.labels import APP
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.key import Key

WATCHED = (STREAM_APP, POD, CONFIG_MAP)
Place = tuple[str, str]
"""A namespace and a name."""


def _as_it_is(_: Kind, manifest: Manifest) -> Manifest:
    return manifest


@dataclass(slots=True)
class Cache:
    """Apps, and their pods and ConfigMaps by the label of the app. Whoever reads, does not write into it."""

    kept: Callable[[Kind, Manifest], Manifest] = _as_it_is  # what of an object is kept
    ours: Callable[[Manifest], bool] = lambda _: True  # which apps this operator looks after
    _objects: dict[Kind, dict[Place, Manifest]] = field(
        default_factory=lambda: {kind: {} for kind in WATCHED}
    )
    _others: dict[Place, str] = field(default_factory=dict)  # the versions of apps that are not ours
    _of_apps: dict[Kind, dict[Key, set[str]]] = field(default_factory=lambda: {kind: {} for kind in WATCHED})

    def app(self, key: Key) -> Manifest | None:
        """The StreamApp."""
        return self._objects[STREAM_APP].get((key.namespace, key.name))

    def apps(self) -> Iterator[Key]:
        """All apps."""
        return iter(tuple(Key(*place) for place in self._objects[STREAM_APP]))

    def pods(self, key: Key) -> tuple[Manifest, ...]:
        """The pods that carry the app's label, by name."""
        return self._of(POD, key)

    def config_maps(self, key: Key) -> tuple[Manifest, ...]:
        """The ConfigMaps that carry the app's label, by name; of large ones without their data."""
        return self._of(CONFIG_MAP, key)

    def _of(self, kind: Kind, key: Key) -> tuple[Manifest, ...]:
        names = sorted(self._of_apps[kind].get(key, ()))
        return tuple(self._objects[kind][key.namespace, name] for name in names)

    def versions(self, kind: Kind) -> dict[Place, str]:
        """The version of each object of a kind that was seen, ours or not."""
        seen = {place: found["metadata"]["resourceVersion"] for place, found in self._objects[kind].items()}
        return seen | self._others if kind is STREAM_APP else seen

    def put(self, kind: Kind, manifest: Manifest) -> Key | None:
        """Remember an object as it is now; the app it is about, or nothing where that is no news."""
        metadata = manifest["metadata"]
        place = (metadata["namespace"], metadata["name"])
        before = self._objects[kind].get(place)
        if before is not None and _version(before) >= _version(manifest):
            return None
        if kind is STREAM_APP and not self.ours(manifest):
            last = self.lose(kind, *place)
            self._others[place] = metadata["resourceVersion"]
            return last
        key = app_of(kind, manifest)
        if before is not None and app_of(kind, before) != key:
            self.lose(kind, *place)
        self._objects[kind][place] = self.kept(kind, manifest)
        self._of_apps[kind].setdefault(key, set()).add(place[1])
        return key

    def drop(self, kind: Kind, manifest: Manifest) -> Key | None:
        """Forget an object that is gone, unless another of its name is there by now."""
        metadata = manifest["metadata"]
        place = (metadata["namespace"], metadata["name"])
        before = self._objects[kind].get(place)
        if before is not None and before["metadata"]["uid"] != metadata["uid"]:
            return None
        return self.lose(kind, *place)

    def lose(self, kind: Kind, namespace: str, name: str) -> Key | None:
        """Forget what is under this name; the app it was about, or nothing where nothing was."""
        if kind is STREAM_APP:
            self._others.pop((namespace, name), None)
        before = self._objects[kind].pop((namespace, name), None)
        if before is None:
            return None
        key = app_of(kind, before)
        names = self._of_apps[kind].get(key, set())
        names.discard(name)
        if not names:
            self._of_apps[kind].pop(key, None)
        return key


def _version(manifest: Manifest) -> int:
    """Versions of one kind grow: what comes late, after something newer was read, is no news."""
    return int(manifest["metadata"]["resourceVersion"])


def app_of(kind: Kind, manifest: Manifest) -> Key:
    """The app that an object is or belongs to."""
    metadata = manifest["metadata"]
    name = metadata["name"] if kind is STREAM_APP else metadata["labels"][APP]
    return Key(metadata["namespace"], name)
