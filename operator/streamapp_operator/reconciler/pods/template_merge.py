"""Merges the operator's pod template over the user's: the operator's fields win, but for security contexts.

What a security context may say was checked when the generation was accepted; the operator adds the rest.
"""

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
"""Lists whose entries are merged by a key; all other lists are replaced."""


def merge_template(user_template: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The overlay merged over the user's template, by mappings and by keyed entries."""
    merged = dict(user_template)
    for name, value in overlay.items():
        merged[name] = _value(name, merged.get(name), value)
    return merged


def _value(name: str, user_value: Any, overlay: Any) -> Any:
    if name == "securityContext" and isinstance(user_value, Mapping):
        return _security_context(user_value, overlay)
    if isinstance(user_value, Mapping) and isinstance(overlay, Mapping):
        return merge_template(user_value, overlay)
    if isinstance(user_value, list) and isinstance(overlay, list) and name in _KEYS:
        return _entries(user_value, overlay, _KEYS[name])
    return overlay


def _security_context(user_value: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The user's context over the operator's. All capabilities are dropped, whichever the user names."""
    merged = merge_template(overlay, user_value)
    if "capabilities" in overlay:
        merged["capabilities"] = {**(user_value.get("capabilities") or {}), **overlay["capabilities"]}
    return merged


def _entries(user_entries: Iterable[Any], overlay: Iterable[Any], key: str) -> list[Any]:
    merged = {entry[key]: entry for entry in user_entries}
    for entry in overlay:
        user_entry = merged.get(entry[key])
        merged[entry[key]] = merge_template(user_entry, entry) if user_entry else entry
    return list(merged.values())
