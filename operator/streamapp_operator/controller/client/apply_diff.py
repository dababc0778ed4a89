"""Whether applying an object would change anything: a write that would not is left out.

It would not when all that we give is there, and all that is there in our name we still give.
"""

import json
from typing import Any

from streamapp_operator.controller.client.manifest import Manifest


def is_applied(wanted: Manifest, there: Manifest, manager: str) -> bool:
    """Whether an object is as it is wanted, so that server-side apply would be for nothing."""
    owned = [
        entry.get("fieldsV1", {})
        for entry in there["metadata"].get("managedFields", ())
        if entry.get("manager") == manager and entry.get("operation") == "Apply"
    ]
    return len(owned) == 1 and _holds(there, wanted) and _gives(wanted, owned[0])


_EMPTY: tuple[Any, ...] = ({}, [], None)
"""Values that the API server leaves out."""


def _holds(there: Any, wanted: Any) -> bool:
    """Whether all of one value is in another, which may hold more: defaults, and others' fields."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(
            _holds(there[name], value) if name in there else value in _EMPTY for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(there, list)
            and len(there) == len(wanted)
            and all(_holds(one, other) for one, other in zip(there, wanted, strict=True))
        )
    return bool(there == wanted)


def _gives(wanted: Any, owned: dict[str, Any]) -> bool:
    """Whether a value has all fields of a set as `managedFields` writes it."""
    for step, below in owned.items():
        if step == ".":
            continue
        found = _step(wanted, step)
        if found is _NOTHING or not _gives(found, below):
            return False
    return True


_NOTHING = object()


def _step(value: Any, step: str) -> Any:
    """One step of a path: `f:` a field, `k:` the element with these keys, `v:` this element, `i:` a place."""
    sort, _, text = step.partition(":")
    if sort == "f":
        return value.get(text, _NOTHING) if isinstance(value, dict) else _NOTHING
    if not isinstance(value, list):
        return _NOTHING
    if sort == "i":
        return value[int(text)] if int(text) < len(value) else _NOTHING
    named = json.loads(text)
    if sort == "v":
        return named if named in value else _NOTHING
    # A key that we did not give is one that the API server filled in, such as a port's protocol.
    for element in value:
        if isinstance(element, dict) and all(
            element.get(name, filled) == filled for name, filled in named.items()
        ):
            return element
    return _NOTHING
