"""The last state of each object that the watches have seen; steps that create or destroy read live first.

Objects are kept as compressed text and read when they are asked for, which is seldom: a thousand apps have
some eleven thousand of them, which take 28 MB as plain text and six times that as dictionaries.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    NETWORK_POLICY,
    POD,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    SERVICE_ACCOUNT,
    STREAM_APP,
    ResourceKind,
)

DRIVER_OBJECT_KINDS = (SERVICE, SERVICE_ACCOUNT, ROLE, ROLE_BINDING, NETWORK_POLICY)
"""The kinds of the objects that a driver needs beside its pods and ConfigMaps."""
WATCHED_KINDS = (STREAM_APP, POD, CONFIG_MAP, CONTROLLER_REVISION, *DRIVER_OBJECT_KINDS)
K = TypeVar("K")
V = TypeVar("V")
NamespacedName = tuple[str, str]
"""A namespace and a name."""


@dataclass(frozen=True, slots=True)
class _CachedObject:
    """One object at its last observed version."""

    app: AppKey  # the app that the object is or belongs to
    version: str
    uid: str
    text: bytes  # JSON, compressed
    application_id: str  # of a StreamApp; empty for other kinds


def _unchanged(_: ResourceKind, manifest: Manifest) -> Manifest:
    return manifest


@dataclass(slots=True)
class ObjectCache:
    """Apps, and their objects by the app's label. Reads return copies."""

    transform: Callable[[ResourceKind, Manifest], Manifest] = (
        _unchanged  # reduces an object before it is cached
    )
    selects: Callable[[Manifest], bool] = lambda _: True  # whether this operator is responsible for an app
    _objects: dict[ResourceKind, dict[NamespacedName, _CachedObject]] = field(
        default_factory=lambda: {kind: {} for kind in WATCHED_KINDS}
    )
    _by_application_id: dict[str, set[AppKey]] = field(default_factory=dict)
    _foreign_versions: dict[NamespacedName, str] = field(default_factory=dict)  # of other operators' apps
    _by_app: dict[ResourceKind, dict[AppKey, set[str]]] = field(
        default_factory=lambda: {kind: {} for kind in WATCHED_KINDS}
    )

    def app(self, key: AppKey) -> Manifest | None:
        """The StreamApp."""
        cached = self._objects[STREAM_APP].get((key.namespace, key.name))
        return _decode(cached) if cached else None

    def apps(self) -> Iterator[AppKey]:
        """All apps."""
        return iter(tuple(AppKey(*object_name) for object_name in self._objects[STREAM_APP]))

    def apps_of(self, application_id: str) -> tuple[Manifest, ...]:
        """The StreamApps with this application id, of which there should be one."""
        return tuple(
            _decode(self._objects[STREAM_APP][key.namespace, key.name])
            for key in sorted(self._by_application_id.get(application_id, ()))
        )

    def pods(self, key: AppKey) -> tuple[Manifest, ...]:
        """The pods that carry the app's label, by name."""
        return self._objects_of_app(POD, key)

    def config_maps(self, key: AppKey) -> tuple[Manifest, ...]:
        """The ConfigMaps that carry the app's label, by name; of large ones without their data."""
        return self._objects_of_app(CONFIG_MAP, key)

    def config_map(self, namespace: str, name: str) -> Manifest | None:
        """One such ConfigMap; without its data where that is large."""
        cached = self._objects[CONFIG_MAP].get((namespace, name))
        return _decode(cached) if cached else None

    def revisions(self, key: AppKey) -> tuple[Manifest, ...]:
        """The ControllerRevisions that carry the app's label, by name; without their data."""
        return self._objects_of_app(CONTROLLER_REVISION, key)

    def driver_objects(self, key: AppKey) -> dict[tuple[str, str], Manifest]:
        """The objects of `DRIVER_OBJECT_KINDS` with the app's label, by kind and name."""
        return {
            (kind.name, manifest["metadata"]["name"]): manifest
            for kind in DRIVER_OBJECT_KINDS
            for manifest in self._objects_of_app(kind, key)
        }

    def _objects_of_app(self, kind: ResourceKind, key: AppKey) -> tuple[Manifest, ...]:
        names = sorted(self._by_app[kind].get(key, ()))
        return tuple(_decode(self._objects[kind][key.namespace, name]) for name in names)

    def versions(self, kind: ResourceKind) -> dict[NamespacedName, str]:
        """The version of each observed object of a kind, including other operators' apps."""
        versions = {object_name: cached.version for object_name, cached in self._objects[kind].items()}
        return versions | self._foreign_versions if kind is STREAM_APP else versions

    def put(self, kind: ResourceKind, manifest: Manifest) -> AppKey | None:
        """Cache an object; returns its app, or None where the cache has this version or a newer one."""
        metadata = manifest["metadata"]
        object_name, version = (metadata["namespace"], metadata["name"]), metadata["resourceVersion"]
        cached = self._objects[kind].get(object_name)
        # Versions of one kind grow, so that an event with an older version came late.
        if cached is not None and int(cached.version) >= int(version):
            return None
        if kind is STREAM_APP and not self.selects(manifest):
            forgotten = self.forget(kind, *object_name)
            self._foreign_versions[object_name] = version
            return forgotten
        key = app_key_of(kind, manifest)
        if cached is not None and (cached.app != key or cached.uid != metadata["uid"]):
            self.forget(kind, *object_name)
        text = _encode(self.transform(kind, manifest))
        application_id = application_id_of(manifest) if kind is STREAM_APP else ""
        self._objects[kind][object_name] = _CachedObject(key, version, metadata["uid"], text, application_id)
        _index(self._by_app[kind], key, object_name[1])
        if kind is STREAM_APP:
            _index(self._by_application_id, application_id, key)
        return key

    def delete(self, kind: ResourceKind, manifest: Manifest) -> AppKey | None:
        """Remove a deleted object, unless a newer object of its name is cached."""
        metadata = manifest["metadata"]
        object_name = (metadata["namespace"], metadata["name"])
        cached = self._objects[kind].get(object_name)
        if cached is not None and cached.uid != metadata["uid"]:
            return None
        return self.forget(kind, *object_name)

    def forget(self, kind: ResourceKind, namespace: str, name: str) -> AppKey | None:
        """Remove the object of this name; returns its app, or None where no object was cached."""
        if kind is STREAM_APP:
            self._foreign_versions.pop((namespace, name), None)
        cached = self._objects[kind].pop((namespace, name), None)
        if cached is None:
            return None
        _unindex(self._by_app[kind], cached.app, name)
        if kind is STREAM_APP:
            _unindex(self._by_application_id, cached.application_id, cached.app)
        return cached.app


def _index(index: dict[K, set[V]], key: K, value: V) -> None:
    index.setdefault(key, set()).add(value)


def _unindex(index: dict[K, set[V]], key: K, value: V) -> None:
    values = index.get(key, set())
    values.discard(value)
    if not values:
        index.pop(key, None)


def _encode(manifest: Manifest) -> bytes:
    return zlib.compress(json.dumps(manifest, separators=(",", ":")).encode(), zlib.Z_BEST_SPEED)


def _decode(cached: _CachedObject) -> Manifest:
    manifest: Manifest = json.loads(zlib.decompress(cached.text))
    return manifest


def application_id_of(app: Manifest) -> str:
    """The application id of a StreamApp, which need not be valid."""
    metadata = app["metadata"]
    return app["spec"].get("applicationId") or f"{metadata['namespace']}.{metadata['name']}"


def app_key_of(kind: ResourceKind, manifest: Manifest) -> AppKey:
    """The app that an object is or belongs to."""
    metadata = manifest["metadata"]
    name = metadata["name"] if kind is STREAM_APP else metadata["labels"][APP_LABEL]
    return AppKey(metadata["namespace"], name)
