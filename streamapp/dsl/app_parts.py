"""The parts of an app as plain values with the resource's field names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from streamapp.spec.value_types.python_references import python_reference


@dataclass(frozen=True, slots=True)
class AppParts:
    """Systems, streams, tables and operators in the order of their creation."""

    systems: list[dict[str, Any]] = field(default_factory=list)
    streams: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    operators: list[dict[str, Any]] = field(default_factory=list)


PythonCode = str | Callable[..., object]
"""A function or class at the top level of a module, or its name as `package.module:name`."""


_NAMES_OF_CODE = ("python", "grouper")


def resource_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a method in the resource's spelling, without itself; None values are left out."""
    return {
        to_camel(name): python_reference(value) if name in _NAMES_OF_CODE else plain_value(value)
        for name, value in arguments.items()
        if value is not None and name != "self"
    }


def plain_value(value: Any) -> Any:
    """A value as it stands in the resource, functions by their names."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {name: plain_value(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(inner) for inner in value]
    return python_reference(value)
