"""A pod template of the user's with ours over it: what is ours wins, and the rest is kept."""

from collections.abc import Iterable, Mapping
from typing import Any

_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "name",
    "imagePullSecrets": "name",
}
"""Lists of which the entries are known by a name; all others are taken whole."""


def merge_template(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Ours over theirs, mapping by mapping and named entry by named entry."""
    found = dict(theirs)
    for name, value in ours.items():
        found[name] = _value(name, found.get(name), value)
    return found


def _value(name: str, theirs: Any, ours: Any) -> Any:
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        return merge_template(theirs, ours)
    if isinstance(theirs, list) and isinstance(ours, list) and name in _KEYS:
        return _entries(theirs, ours, _KEYS[name])
    return ours


def _entries(theirs: Iterable[Any], ours: Iterable[Any], key: str) -> list[Any]:
    found = {entry[key]: entry for entry in theirs}
    for entry in ours:
        before = found.get(entry[key])
        found[entry[key]] = merge_template(before, entry) if before else entry
    return list(found.values())
