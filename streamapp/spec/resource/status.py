"""The resource's `status`, which the operator writes about an app."""

from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import Crd

ShortText = Annotated[str, Field(max_length=1_024)]
Message = Annotated[str, Field(max_length=32_768)]
Time = Annotated[str, Field(max_length=64), Crd({"format": "date-time"})]
Count = Annotated[int, Field(ge=0)]


class Condition(Part):
    """One aspect of the app, true, false or unknown, with the reason."""

    type: Annotated[str, Field(max_length=316)]
    """The aspect, such as Ready."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: ShortText
    """Why, as one word."""
    message: Message
    """An explanation, and how to fix it."""
    last_transition_time: Time
    """When `status` last changed."""
    observed_generation: Count | None = None
    """The generation of the resource that this speaks of."""


class PlanStatus(Part):
    """The plan in force."""

    outcome: ShortText | None = None
    """accepted or rejected."""
    streams: Count | None = None
    """How many streams it has."""
    joins: Count | None = None
    """How many joins agree on a count."""
    hash: ShortText | None = None
    """Changes with the plan."""


class JobModelStatus(Part):
    """The job model in force."""

    version: Count | None = None
    """Its version."""
    hash: ShortText | None = None
    """Its content hash."""
    config_map: ShortText | None = None
    """The ConfigMap that holds it."""
    run_id: ShortText | None = None
    """The run whose state it continues."""
    moved_tasks: Count | None = None
    """How many tasks run on another processor than the model says, since theirs was lost."""
    moved_hash: ShortText | None = None
    """Changes with these tasks and their processors; unset while there are none."""


class Ending(Part):
    """The end of the last driver that ended."""

    incarnation: Count | None = None
    """Which it was."""
    generation: Count | None = None
    """The generation it ran."""
    outcome: ShortText | None = None
    """done, config, retry, stopped, displaced or lost."""
    reason: ShortText | None = None
    """Why, as one word."""
    path: ShortText | None = None
    """The field that is wrong, where one is."""
    message: Message | None = None
    """Why, in words."""
    ended_at: ShortText | None = None
    """When, as an RFC 3339 time."""


class DriverStatus(Part):
    """The driver."""

    incarnation: Count | None = None
    """Raised before each driver pod is made, or takes over."""
    successor: Count | None = None
    """Of the last standby driver that was made, which may not have taken over."""
    pod: ShortText | None = None
    """Its pod."""
    uid: ShortText | None = None
    """The uid of its pod, from when it was first seen."""
    node: ShortText | None = None
    """The node it runs on."""
    generation: Count | None = None
    """The generation it runs."""
    started_at: ShortText | None = None
    """When its pod began to run, as an RFC 3339 time."""
    stopping: ShortText | None = None
    """Why it is being stopped, where the operator wants it to end."""
    failures: Count | None = None
    """How often in a row a driver failed."""
    last_ending: Ending | None = None
    """The last one that ended."""


class AutoscaleStatus(Part):
    """The memory of autoscaling from one look to the next."""

    processors: Count | None = None
    """The number of processors of the last look, by whoever it was set."""
    changed_at: ShortText | None = None
    """When that number last changed, as an RFC 3339 time."""
    wanted: Count | None = None
    """How many the load asks for, within the bounds."""
    low_since: ShortText | None = None
    """Since when fewer are enough, as an RFC 3339 time."""
    low_most: Count | None = None
    """The most that were asked for since then."""
    message: ShortText | None = None
    """Why so many are wanted, and what bounds the number."""
    bounded_by: ShortText | None = None
    """Which bound keeps the number from what the load asks for: min, max or tasks."""


class Status(Part):
    """The state that the operator last saw, and its last steps."""

    conditions: Annotated[
        tuple[Condition, ...],
        Crd({"maxItems": 32, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
    ] = ()
    """One entry per aspect."""
    observed_generation: Count | None = None
    """The newest generation seen."""
    accepted_generation: Count | None = None
    """The generation that runs."""
    phase: ShortText | None = None
    """The app's life in one word."""
    reason: ShortText | None = None
    """The reason of the condition that matters most."""
    plan: PlanStatus | None = None
    """The plan in force."""
    job_model: JobModelStatus | None = None
    """The job model in force."""
    tasks: Count | None = None
    """How many tasks there are."""
    processors: Count | None = None
    """How many processors run."""
    selector: ShortText | None = None
    """Label selector of the executors' pods, for the scale subresource."""
    autoscale: AutoscaleStatus | None = None
    """What autoscaling does, where `spec.autoscale` is set."""
    restarts: Count | None = None
    """How often the driver was restarted."""
    driver: DriverStatus | None = None
    """The driver."""
