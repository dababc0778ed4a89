"""The placement of tasks, and the storage of their state."""

from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.resource.base import OneOf, Part
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.value_types.scalars import AbsolutePath, Location, ObjectName, Quantity


class Placement(Part):
    """The assignment of tasks to processors."""

    host_affinity: Annotated[bool, Effect.LIVE] = True
    """Tasks go back to the location that holds their state."""
    location: Annotated[Location, Effect.RESTART] = "node"
    """What a location is: `node`, `pod`, `volume`, `label:<key>`, several joined by `+`, or own."""
    standbys: Annotated[int, Field(ge=0, le=8), Effect.LIVE] = 0
    """Further copies of each task's state, on other locations. Not yet: more than none is refused."""


class Claim(Part):
    """A volume claim for each processor."""

    size: Quantity
    """How large each is."""
    storage_class_name: ObjectName | None = None
    """The storage class; the cluster's default when unset."""


class HostPath(Part):
    """A folder of the node, below a root that the installation allows."""

    path: AbsolutePath
    """The root; namespace and application id are appended."""


class EmptyDir(Part):
    """State ends with its pod."""

    size_limit: Quantity | None = None
    """The most it may take."""


class State(OneOf):
    """The volume that holds local state; one kind at most, `emptyDir` when none is named."""

    @classmethod
    def always(cls) -> frozenset[str]:
        """The fields that hold for every kind of volume."""
        return frozenset({"reclaim_policy"})

    persistent_volume_claim: Claim | None = None
    """A claim for each processor."""
    host_path: HostPath | None = None
    """A folder of the node."""
    empty_dir: EmptyDir | None = None
    """The pod's own disk."""
    reclaim_policy: Annotated[Literal["Retain", "Delete"], Effect.LIVE] = "Retain"
    """What becomes of claims when the app is deleted."""
