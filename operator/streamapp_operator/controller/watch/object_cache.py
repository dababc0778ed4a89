"""What the watches have seen, last of each object; steps that create or destroy read live first.

Objects are kept as text and read when they are asked for, which is seldom: as dictionaries they would take
six times the memory, and a thousand apps have some seven thousand of them.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, POD, STREAM_APP, ResourceKind

WATCHED_KINDS = (STREAM_APP, POD, CONFIG_MAP)
K = TypeVar("K")
V = TypeVar("V")
NamespacedName = tuple[str, str]
"""A namespace and a name."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """One object as it was seen last."""

    app: AppKey  # that it is or belongs to
    version: str
    uid: str
    text: str
    id: str  # of an app: what its topics and state are called by


def _as_it_is(_: ResourceKind, manifest: Manifest) -> Manifest:
    return manifest


@dataclass(slots=True)
class ObjectCache:
    """Apps, and their pods and ConfigMaps by the label of the app. Whoever reads, gets copies."""

    kept: Callable[[ResourceKind, Manifest], Manifest] = _as_it_is  # what of an object is kept
    ours: Callable[[Manifest], bool] = lambda _: True  # which apps this operator looks after
    _objects: dict[ResourceKind, dict[NamespacedName, _Seen]] = field(
        default_factory=lambda: {kind: {} for kind in WATCHED_KINDS}
    )
    _of_ids: dict[str, set[AppKey]] = field(default_factory=dict)
    _others: dict[NamespacedName, str] = field(default_factory=dict)  # the versions of apps that are not ours
    _of_apps: dict[ResourceKind, dict[AppKey, set[str]]] = field(
        default_factory=lambda: {kind: {} for kind in WATCHED_KINDS}
    )

    def app(self, key: AppKey) -> Manifest | None:
        """The StreamApp."""
        seen = self._objects[STREAM_APP].get((key.namespace, key.name))
        return _read(seen) if seen else None

    def apps(self) -> Iterator[AppKey]:
        """All apps."""
        return iter(tuple(AppKey(*place) for place in self._objects[STREAM_APP]))

    def apps_of(self, application_id: str) -> tuple[Manifest, ...]:
        """The StreamApps that say they are of this id, which should be one."""
        return tuple(
            _read(self._objects[STREAM_APP][key.namespace, key.name])
            for key in sorted(self._of_ids.get(application_id, ()))
        )

    def pods(self, key: AppKey) -> tuple[Manifest, ...]:
        """The pods that carry the app's label, by name."""
        return self._of(POD, key)

    def config_maps(self, key: AppKey) -> tuple[Manifest, ...]:
        """The ConfigMaps that carry the app's label, by name; of large ones without their data."""
        return self._of(CONFIG_MAP, key)

    def _of(self, kind: ResourceKind, key: AppKey) -> tuple[Manifest, ...]:
        names = sorted(self._of_apps[kind].get(key, ()))
        return tuple(_read(self._objects[kind][key.namespace, name]) for name in names)

    def versions(self, kind: ResourceKind) -> dict[NamespacedName, str]:
        """The version of each object of a kind that was seen, ours or not."""
        seen = {place: found.version for place, found in self._objects[kind].items()}
        return seen | self._others if kind is STREAM_APP else seen

    def put(self, kind: ResourceKind, manifest: Manifest) -> AppKey | None:
        """Remember an object as it is now; the app it is about, or nothing where that is no news."""
        metadata = manifest["metadata"]
        place, version = (metadata["namespace"], metadata["name"]), metadata["resourceVersion"]
        before = self._objects[kind].get(place)
        # Versions of one kind grow: what comes late, after something newer was read, is no news.
        if before is not None and int(before.version) >= int(version):
            return None
        if kind is STREAM_APP and not self.ours(manifest):
            last = self.lose(kind, *place)
            self._others[place] = version
            return last
        key = app_key_of(kind, manifest)
        if before is not None and (before.app != key or before.uid != metadata["uid"]):
            self.lose(kind, *place)
        text = json.dumps(self.kept(kind, manifest), ensure_ascii=False, separators=(",", ":"))
        id_ = (manifest["spec"].get("applicationId") or ".".join(place)) if kind is STREAM_APP else ""
        self._objects[kind][place] = _Seen(key, version, metadata["uid"], text, id_)
        _enter(self._of_apps[kind], key, place[1])
        if kind is STREAM_APP:
            _enter(self._of_ids, id_, key)
        return key

    def drop(self, kind: ResourceKind, manifest: Manifest) -> AppKey | None:
        """Forget an object that is gone, unless another of its name is there by now."""
        metadata = manifest["metadata"]
        place = (metadata["namespace"], metadata["name"])
        before = self._objects[kind].get(place)
        if before is not None and before.uid != metadata["uid"]:
            return None
        return self.lose(kind, *place)

    def lose(self, kind: ResourceKind, namespace: str, name: str) -> AppKey | None:
        """Forget what is under this name; the app it was about, or nothing where nothing was."""
        if kind is STREAM_APP:
            self._others.pop((namespace, name), None)
        before = self._objects[kind].pop((namespace, name), None)
        if before is None:
            return None
        _leave(self._of_apps[kind], before.app, name)
        if kind is STREAM_APP:
            _leave(self._of_ids, before.id, before.app)
        return before.app


def _enter(index: dict[K, set[V]], under: K, value: V) -> None:
    index.setdefault(under, set()).add(value)


def _leave(index: dict[K, set[V]], under: K, value: V) -> None:
    found = index.get(under, set())
    found.discard(value)
    if not found:
        index.pop(under, None)


def _read(seen: _Seen) -> Manifest:
    found: Manifest = json.loads(seen.text)
    return found


def app_key_of(kind: ResourceKind, manifest: Manifest) -> AppKey:
    """The app that an object is or belongs to."""
    metadata = manifest["metadata"]
    name = metadata["name"] if kind is STREAM_APP else metadata["labels"][APP_LABEL]
    return AppKey(metadata["namespace"], name)
