"""The parts of an app as plain values with the resource's field names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel


@dataclass(frozen=True, slots=True)
class AppParts:
    """Systems, streams, tables and operators in the order of their creation."""

    systems: list[dict[str, Any]] = field(default_factory=list)
    streams: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    operators: list[dict[str, Any]] = field(default_factory=list)


def resource_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with Python's names in the resource's spelling; None values are left out."""
    return {to_camel(name): plain_value(value) for name, value in fields.items() if value is not None}


def plain_value(value: Any) -> Any:
    """A value as it stands in the resource."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return [plain_value(inner) for inner in value] if isinstance(value, (list, tuple)) else value
