"""The versions of Secrets and ConfigMaps with which a driver was started, and those that have changed."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, SECRET, ResourceKind
from streamapp_operator.reconciler.named_objects import named_objects

CONFIGURATION_ANNOTATION: Final = "streamapp.dev/configuration"
"""Of a driver pod: the versions of what its app names, as JSON."""
CONFIGURATION_SECONDS: Final = 300.0
"""How often versions are looked up: a watch of all Secrets would be a right to read all Secrets."""
MOST_OBJECTS: Final = 64
"""Further objects of an app are not looked at."""
_KINDS: Final = {"secrets": SECRET, "config_maps": CONFIG_MAP}
_OBJECT_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")


def configuration_objects(
    app: StreamApp, *, for_pulling: bool = False
) -> tuple[tuple[ResourceKind, str], ...]:
    """The Secrets and ConfigMaps that pods of an app read; with those `for_pulling` images, if asked for."""
    named = {
        (_KINDS[entry.allow_list], entry.name)
        for entry in named_objects(app)
        if entry.allow_list in _KINDS
        and (for_pulling or "imagePullSecrets" not in entry.path)
        and _OBJECT_NAME.fullmatch(entry.name)
    }
    return tuple(sorted(named, key=lambda entry: (entry[0].name, entry[1]))[:MOST_OBJECTS])


def named_versions(app: StreamApp, versions: Mapping[str, str]) -> dict[str, str]:
    """The versions of all that an app names, of those that are there."""
    keys = (version_key(kind, name) for kind, name in configuration_objects(app, for_pulling=True))
    return {key: versions[key] for key in keys if key in versions}


def version_key(kind: ResourceKind, name: str) -> str:
    """The key of an object among the versions."""
    return f"{kind.name} {name}"


def configuration_annotation(app: StreamApp, versions: Mapping[str, str]) -> dict[str, str]:
    """The annotation of a driver pod that starts with these versions; empty where the app names nothing."""
    keys: Iterable[str] = (version_key(kind, name) for kind, name in configuration_objects(app))
    started_with = {key: versions[key] for key in keys if key in versions}
    return {CONFIGURATION_ANNOTATION: json.dumps(started_with, sort_keys=True)} if started_with else {}


def has_configuration(driver: Manifest) -> bool:
    """True if a driver was started with Secrets or ConfigMaps that may change."""
    return CONFIGURATION_ANNOTATION in (driver["metadata"].get("annotations") or {})


def changed_configuration(driver: Manifest, versions: Mapping[str, str]) -> tuple[str, ...]:
    """The objects that have changed since a driver was started.

    One that was not there then held the pod back until it was; one that is gone a restart could not take up.
    """
    text = (driver["metadata"].get("annotations") or {}).get(CONFIGURATION_ANNOTATION, "{}")
    try:
        started_with = json.loads(text)
    except ValueError:
        return ()  # somebody has written over it
    if not isinstance(started_with, dict):
        return ()
    return tuple(
        sorted(key for key, version in started_with.items() if versions.get(key, version) != version)
    )
