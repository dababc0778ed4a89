"""Marks for what a field's type cannot say: the effect of a change, and the bounds in the CRD.

The marks stand in `Annotated[...]` and pass into the JSON schema, so that CRD, reference page and checks
all read one source.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

EFFECT = "x-streamapp-effect"
CRD = "x-streamapp-crd"


class Effect(StrEnum):
    """The effect on a running app when the field changes; a field without one has its parent's."""

    NONE = "none"  # nothing that runs looks at it
    LIVE = "live"  # taken up while running
    RESTART = "restart"  # the driver restarts between two batches; plan and state stay
    REPLAN = "replan"  # planned again; a new job model, then a restart
    REFUSED = "refused"  # cannot change while there is state

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(core), EFFECT: self.value}


@dataclass(frozen=True, slots=True)
class Crd:
    """Schema keywords that only the cluster's form has: limits that keep its rules affordable, list types."""

    keywords: dict[str, Any] = field(default_factory=dict)

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core)
        return {**schema, CRD: {**schema.get(CRD, {}), **self.keywords}}


def named_list(most: int) -> Crd:
    """A list whose entries are merged by name, as server-side apply does it."""
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    return Crd({"maxItems": most, **keys})
