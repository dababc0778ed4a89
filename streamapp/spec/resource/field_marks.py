"""What a field's type cannot say: what a change of it does, which capability it needs, how the CRD bounds it.

The marks stand in `Annotated[...]` and pass into the JSON schema, so that CRD, reference page and checks
all read one source.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

EFFECT = "x-streamapp-effect"
NEEDS = "x-streamapp-needs"
CRD = "x-streamapp-crd"
FORMER = "x-streamapp-former"

RENAMED_IN: Final = "0.1"
GOES_WITH: Final = "0.2"
"""The releases between which a renamed field is understood by both of its names."""


def renamed_message(former: str, current: str) -> str:
    """What a warning says of a former name."""
    return f'"{former}" is now called "{current}"; the former name goes with {GOES_WITH}'


class Effect(StrEnum):
    """What happens to a running app when the field changes; a field without one has its parent's."""

    NONE = "none"  # nothing that runs looks at it
    LIVE = "live"  # taken up while running
    RESTART = "restart"  # the driver restarts between two batches; plan and state stay
    REPLAN = "replan"  # planned again; a new job model, then a restart
    REFUSED = "refused"  # cannot change while there is state

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(core), EFFECT: self.value}


class Capability(StrEnum):
    """A part of the product that gives a field its effect."""

    PLANNING = "planning"
    PLACEMENT = "placement"
    RUNNING = "running apps"
    KAFKA = "the Kafka system"
    EVENT_TIME = "event time"
    ADJUNCT = "adjunct tables"
    CLUSTER = "the operator"
    RESET = "a way to give state up"


BUILT = frozenset(
    {
        Capability.CLUSTER,
        Capability.EVENT_TIME,
        Capability.KAFKA,
        Capability.PLACEMENT,
        Capability.PLANNING,
        Capability.RESET,
        Capability.RUNNING,
    }
)
"""What this version has. A field that needs anything else is refused when set, never ignored."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Marks a field that has no effect before its capability is there."""

    capability: Capability

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(core), NEEDS: self.capability.value}


@dataclass(frozen=True, slots=True)
class Former:
    """Marks a renamed field: what it was called before, and what its values were called."""

    name: str = ""  # in the resource; empty where only values have other names
    values: Mapping[str, str] = field(default_factory=dict)  # from the former one to the current one

    def current_value(self, value: Any) -> Any:
        """The value by its current name."""
        return self.values.get(value, value) if isinstance(value, str) else value

    def now_written(self, name: str, value: Any) -> str:
        """How a field of this current name is written now; with its value where that has another name too."""
        current = self.current_value(value)
        return name if current == value else f"{name}: {current}"

    def former_value(self, value: Any) -> Any:
        """The value by its former name, where it had one."""
        return next((former for former, current in self.values.items() if current == value), value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return schema if self.name else no_info_before_validator_function(self._accepted, schema)

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(core), FORMER: {"name": self.name, "values": dict(self.values)}}

    def _accepted(self, value: Any) -> Any:
        """The current value. The parser has translated texts, so a former one is that of a program."""
        current = self.current_value(value)
        if current != value:
            warnings.warn(renamed_message(value, current), FutureWarning, stacklevel=3)
        return current


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
