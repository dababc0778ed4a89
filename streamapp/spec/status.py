"""What the operator says about an app: the resource's `status`."""

from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.base import Part
from streamapp.spec.marks import Crd

Word = Annotated[str, Field(max_length=1_024)]
Message = Annotated[str, Field(max_length=32_768)]
Time = Annotated[str, Field(max_length=64), Crd({"format": "date-time"})]
Count = Annotated[int, Field(ge=0)]


class Condition(Part):
    """One aspect of the app, true, false or unknown, with the reason."""

    type: Annotated[str, Field(max_length=316)]
    """The aspect: Accepted, Planned, Launched, Ready, Progressing, Degraded, Stalled, Suspended."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Word
    """Why, as one word."""
    message: Message
    """Why, in words, and what would mend it."""
    last_transition_time: Time
    """When `status` last changed."""
    observed_generation: Count | None = None
    """The generation of the resource that this speaks of."""


class PlanStatus(Part):
    """The plan in force."""

    outcome: Word | None = None
    """accepted or rejected."""
    streams: Count | None = None
    """How many streams it has."""
    joins: Count | None = None
    """How many joins agree on a count."""
    hash: Word | None = None
    """Changes with the plan."""


class JobModelStatus(Part):
    """The job model in force."""

    version: Count | None = None
    """Its version."""
    hash: Word | None = None
    """Its content hash."""
    config_map: Word | None = None
    """The ConfigMap that holds it."""
    run_id: Word | None = None
    """The run whose state it continues."""


class Ending(Part):
    """How the last driver that ended did so."""

    incarnation: Count | None = None
    """Which it was."""
    generation: Count | None = None
    """The generation it ran."""
    outcome: Word | None = None
    """done, config, retry, stopped, displaced or lost."""
    reason: Word | None = None
    """Why, as one word."""
    path: Word | None = None
    """The field that is wrong, where one is."""
    message: Message | None = None
    """Why, in words."""
    ended_at: Word | None = None
    """When, as an RFC 3339 time."""


class DriverStatus(Part):
    """The driver."""

    incarnation: Count | None = None
    """Raised before each driver pod is made."""
    pod: Word | None = None
    """Its pod."""
    uid: Word | None = None
    """The uid of its pod, from when it was first seen."""
    node: Word | None = None
    """The node it runs on."""
    generation: Count | None = None
    """The generation it runs."""
    started_at: Word | None = None
    """When its pod began to run, as an RFC 3339 time."""
    stopping: Word | None = None
    """Why it is being stopped, where the operator wants it to end."""
    failures: Count | None = None
    """How often in a row a driver failed."""
    last_ending: Ending | None = None
    """The last one that ended."""


class Status(Part):
    """What the operator last saw and did."""

    conditions: Annotated[
        tuple[Condition, ...],
        Crd({"maxItems": 32, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
    ] = ()
    """One entry per aspect."""
    observed_generation: Count | None = None
    """The newest generation seen."""
    accepted_generation: Count | None = None
    """The generation that runs."""
    phase: Word | None = None
    """The app's life in one word."""
    reason: Word | None = None
    """The reason of the condition that matters most."""
    plan: PlanStatus | None = None
    """The plan in force."""
    job_model: JobModelStatus | None = None
    """The job model in force."""
    tasks: Count | None = None
    """How many tasks there are."""
    processors: Count | None = None
    """How many processors run."""
    selector: Word | None = None
    """Label selector of the executors' pods, for the scale subresource."""
    restarts: Count | None = None
    """How often the driver was started anew."""
    driver: DriverStatus | None = None
    """The driver."""
