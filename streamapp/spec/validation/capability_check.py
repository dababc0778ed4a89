"""Fields and settings that this version knows by name only: refused when set, never ignored."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import Capability, Needs
from streamapp.spec.text.document import Path
from streamapp.spec.validation.error_messages import model_in


def unsupported_fields(data: Any, built: frozenset[Capability]) -> Iterator[tuple[Path, Capability]]:
    """Every field of a document that says other than its default while its capability is not built."""
    waiting: list[tuple[Path, Any, type[BaseModel]]] = [((), data, StreamApp)]
    while waiting:
        path, value, model = waiting.pop()
        if isinstance(value, list):
            waiting.extend(((*path, index), entry, model) for index, entry in enumerate(value))
        if not isinstance(value, dict):
            continue
        for name, info in model.model_fields.items():
            alias = info.alias or name
            if alias not in value:
                continue
            needed = next((mark.capability for mark in info.metadata if isinstance(mark, Needs)), None)
            if needed and needed not in built and _says_more(value[alias], _plain(info.get_default())):
                yield (*path, alias), needed
            elif inner := model_in(info.annotation):
                waiting.append(((*path, alias), value[alias], inner))
    spec = data.get("spec") if isinstance(data, dict) else None
    config = spec.get("config") if isinstance(spec, dict) else None
    for name in config if isinstance(config, dict) else ():
        if name in KEYS and KEYS[name].needs not in built:
            yield ("spec", "config", name), KEYS[name].needs


def _says_more(field_value: Any, default: Any) -> bool:
    """Whether anything in a value differs from the default; what is left out does not."""
    if isinstance(field_value, dict) and isinstance(default, dict):
        return any(_says_more(value, default.get(name)) for name, value in field_value.items())
    return field_value is not None and field_value != default


def _plain(default: Any) -> Any:
    if isinstance(default, BaseModel):
        return default.model_dump(mode="json", by_alias=True)
    return list(default) if isinstance(default, tuple) else default
