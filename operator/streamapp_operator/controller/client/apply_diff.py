"""The comparison before a server-side apply: an apply without effect is left out.

An apply has no effect when the object has all wanted values, and the manager owns no field beyond them.
"""

import json
from typing import Any

from streamapp_operator.controller.client.manifest import Manifest


def is_applied(manifest: Manifest, current: Manifest, manager: str) -> bool:
    """True if the current object already is as wanted, so that a server-side apply would have no effect."""
    owned = [
        entry.get("fieldsV1", {})
        for entry in current["metadata"].get("managedFields", ())
        if entry.get("manager") == manager and entry.get("operation") == "Apply"
    ]
    return len(owned) == 1 and contains(current, manifest) and _sets_all(manifest, owned[0])


_EMPTY: tuple[Any, ...] = ({}, [], None)
"""Values that the API server drops."""


def contains(current: Any, expected: Any) -> bool:
    """True if the current value contains the wanted one, beside defaults and other managers' fields."""
    if isinstance(expected, dict):
        return isinstance(current, dict) and all(
            _has_field(name, current[name], value) if name in current else value in _EMPTY
            for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(current, list)
            and len(current) == len(expected)
            and all(
                contains(current_element, wanted_element)
                for current_element, wanted_element in zip(current, expected, strict=True)
            )
        )
    return bool(current == expected)


_ATOMIC = frozenset({"selector"})
"""Mappings that the API replaces as a whole: one more entry of somebody else changes what they mean."""


def _has_field(name: str, current: Any, expected: Any) -> bool:
    return bool(current == expected) if name in _ATOMIC else contains(current, expected)


def _sets_all(manifest: Any, owned: dict[str, Any]) -> bool:
    """True if the wanted value sets every field of a `fieldsV1` set."""
    for step, owned_below in owned.items():
        if step == ".":
            continue
        below = _descend(manifest, step)
        if below is _MISSING or not _sets_all(below, owned_below):
            return False
    return True


_MISSING = object()


def _descend(value: Any, step: str) -> Any:
    """One step of a `fieldsV1` path: `f:` a field; an element by its keys `k:`, value `v:` or index `i:`."""
    step_kind, _, text = step.partition(":")
    if step_kind == "f":
        return value.get(text, _MISSING) if isinstance(value, dict) else _MISSING
    if not isinstance(value, list):
        return _MISSING
    if step_kind == "i":
        return value[int(text)] if int(text) < len(value) else _MISSING
    key = json.loads(text)
    if step_kind == "v":
        return key if key in value else _MISSING
    # A key that the wanted object lacks was defaulted by the API server, such as a port's protocol.
    for element in value:
        if isinstance(element, dict) and all(
            element.get(name, filled) == filled for name, filled in key.items()
        ):
            return element
    return _MISSING
