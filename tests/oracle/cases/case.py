"""A random case: an app as data, what is written to its streams, and what happens meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from tests.oracle.cases.resource_reading import edited

TABLES: Final = "files"
"""The system of inputs that are tables."""
Row: TypeAlias = dict[str, Any]
Header: TypeAlias = tuple[str, bytes | None]


class Framing(StrEnum):
    """How a record under a registry says which schema it is written by."""

    BEFORE = "before the value"
    HEADER = "in a header"
    UNKNOWN = "by an id that no schema has"
    NONE = "not at all"
    CUT = "by a part of an id"


GOOD_FRAMINGS: Final = (Framing.BEFORE, Framing.HEADER)
"""Those with which a record can be read."""


@dataclass(frozen=True, slots=True)
class InputRecord:
    """A record of an input: without a row it is a tombstone."""

    key: bytes | None
    row: Row | None
    timestamp: int  # milliseconds
    headers: tuple[Header, ...] = ()
    version: int = 0  # of the schemas of its stream, if these are registered
    framing: Framing = Framing.BEFORE


@dataclass(frozen=True, slots=True)
class Send:
    """Records of one stream, written at once."""

    stream: str
    records: tuple[InputRecord, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    """The app ends as SIGKILL would end it: at once, or before the next batch commits."""

    before_commit: bool


@dataclass(frozen=True, slots=True)
class Restart:
    """The app ends in good order and starts again."""


@dataclass(frozen=True, slots=True)
class Grow:
    """All inputs get more partitions."""

    partitions: int


@dataclass(frozen=True, slots=True)
class Advance:
    """Time passes, in which nothing comes."""

    by: str


@dataclass(frozen=True, slots=True)
class Edit:
    """The app is deployed with one operator changed, added at the end, or taken away."""

    operator: str
    kind: str
    body: Mapping[str, Any] | None


Step: TypeAlias = Send | Kill | Restart | Grow | Advance | Edit


@dataclass(frozen=True, slots=True)
class Case:
    """One app with its data and events. `whole_sends`: a batch takes all of a send, so that each row's
    lateness and each emission follow from the steps alone."""

    seed: int
    resource: Mapping[str, Any]
    partitions: int
    processors: int
    whole_sends: bool
    steps: tuple[Step, ...]
    schemas: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by stream, the oldest first
    key_schemas: Mapping[str, str] = field(default_factory=dict)  # by stream, of keys under a registry

    @property
    def has_registry(self) -> bool:
        """Whether streams are under a schema registry, which is in the kit's memory alone."""
        return any(
            stream.get("registry") or stream["name"] in self.key_schemas for stream in self.spec["streams"]
        )

    @property
    def tables(self) -> frozenset[str]:
        """The inputs that are tables, which end with their first send."""
        return frozenset(s["name"] for s in self.spec["streams"] if s["system"] == TABLES)

    @property
    def needs_kit(self) -> bool:
        """Whether only the kit has what the app reads: a registry in memory, a table that is sent."""
        return self.has_registry or bool(self.tables)

    def resource_after(self, steps: int) -> Mapping[str, Any]:
        """The resource as the edits among the first steps have made it."""
        spec = self.spec
        for step in self.steps[:steps]:
            if isinstance(step, Edit):
                spec = edited(spec, step.operator, step.kind, step.body)
        return {**self.resource, "spec": spec}

    @property
    def spec(self) -> Mapping[str, Any]:
        """The resource's `spec`."""
        return self.resource["spec"]

    @property
    def tasks(self) -> int:
        """How many tasks the app has."""
        return 1 if self.spec.get("grouper") == "single" else self.partitions

    @property
    def is_batch(self) -> bool:
        """Whether the app ends with its inputs."""
        return bool(self.spec.get("mode") == "batch")
