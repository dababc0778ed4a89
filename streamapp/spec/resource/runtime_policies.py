"""Policies of an app that runs: deliveries, bad records, late rows, batches, watching for growth."""

from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.app_bounds import MOST_PROCESSORS
from streamapp.spec.log_levels import LogLevel
from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import named_list
from streamapp.spec.value_types.scalars import LoggerName, Name, Share, ShortDuration


class Batch(Part):
    """The bounds of one micro-batch."""

    rows: Annotated[int, Field(ge=1, le=1_000_000_000)] = 1_000_000
    """Records read in one batch at most, over all tasks."""
    bytes: Annotated[int, Field(ge=1_024, le=1_099_511_627_776)] = 268_435_456
    """Bytes of values read in one batch, over all tasks, if records are as large as those of the last one."""
    interval: ShortDuration = "0s"
    """The shortest time from the start of one batch to the start of the next."""
    latency: ShortDuration = "100ms"
    """How long a record may take from arrival to commit: batches wait for more meanwhile. 0s: they do not."""
    timeout: ShortDuration = "10m"
    """How long a batch with records may take before it is ended and tried again; 0s: as long as it wants."""
    independent_lanes: bool = True
    """Whether lanes do not wait for each other: one that is slow, lost or full stops only what needs it."""


class RejectionBound(Part):
    """The number of records of one partition that may be left out before the app ends."""

    share: Share = "1%"
    """How many of the records of a window at most."""
    window: Annotated[int, Field(ge=100, le=1_000_000_000)] = 10_000
    """How many offsets of a partition make a window. A smaller input has the allowance of a whole one."""
    in_a_row: Annotated[int, Field(ge=1, le=1_000_000_000)] = 100
    """How many one after another at most."""


class BadRecords(Part):
    """The policy for a record that cannot be decoded, or a row on which an expression fails."""

    action: Literal["fail", "skip", "deadLetter"] = "fail"
    """End the app, count and continue, or write it to a stream with its reason and continue."""
    stream: Name | None = None
    """The stream for `deadLetter`."""
    bound: RejectionBound = RejectionBound()
    """How many records may be left out by `skip` and `deadLetter`."""


class CodeErrors(Part):
    """The policy for a record on which the app's own Python fails, hangs, or ends its process."""

    action: Literal["fail", "skip", "deadLetter"] = "fail"
    """End the app, count and continue, or write it to a stream with its reason and continue."""
    stream: Name | None = None
    """The stream for `deadLetter`; it may be the stream of `onBadRecord`."""
    bound: RejectionBound = RejectionBound()
    """How many records may be left out by `skip` and `deadLetter`."""


class LateRows(Part):
    """The policy for a row that comes after its window was closed."""

    action: Literal["drop", "stream"] = "drop"
    """Count and drop, or write to a stream."""
    stream: Name | None = None
    """The stream for `stream`."""


class OutboxLimit(Part):
    """The bound of the rows that wait for delivery into a system that is not the home."""

    max_records: Annotated[int, Field(ge=1, le=1_000_000_000)] = 1_000_000
    """So many records may wait in the outboxes of a system; then nothing is read until some are delivered."""


class Monitor(Part):
    """Watching the partition counts of inputs."""

    enabled: bool = True
    """Whether growth is looked for; `job.coordinator.monitor-partition-change` says the same."""
    interval: ShortDuration = "5m"
    """How often; `job.coordinator.monitor-partition-change.frequency.ms` says the same."""


class Autoscale(Part):
    """The number of processors that the operator gives the app by its load; it sets `processors`."""

    min: Annotated[int, Field(ge=1, le=MOST_PROCESSORS)] = 1
    """Never fewer."""
    max: Annotated[int, Field(ge=1, le=MOST_PROCESSORS)]
    """Never more; more than there are tasks are never asked for either."""
    target_lag: Annotated[int | None, Field(ge=1, le=2**53)] = None
    """Records that each processor may have to read; more of them ask for more processors."""
    target_utilization: Annotated[int | None, Field(ge=10, le=95)] = None
    """The share of the time, in percent, that is spent in batches; more of it asks for more processors."""
    cooldown: ShortDuration = "5m"
    """How long fewer processors have to be enough before some are given up; and after each change."""


class RunPage(Part):
    """The page of the running app, which the driver serves on port 9405 of its pod's loopback."""

    enabled: bool = False
    """Whether it is served. `kubectl port-forward` of the driver's pod reaches it, and nothing else."""
    show_values: bool = False
    """Whether it shows samples of bad records, and reasons that may repeat what records hold."""


class StateQueryAccess(Part):
    """Queries of the state while the app runs, answered on port 9405 of the driver pod's loopback."""

    enabled: bool = False
    """Whether they are answered. Forwarding a port of the driver's pod reaches them, and nothing else."""


class LoggerLevel(Part):
    """The level of one logger."""

    name: LoggerName
    """A Python module, or a Java class or package; loggers below it have the same level."""
    level: LogLevel
    """The lowest level that it logs."""


class Logging(Part):
    """The lines that driver and executors log, and their format."""

    format: Literal["json", "text"] | None = None
    """A JSON object per line, with the field names of ECS, or text; the installation's when unset: `json`."""
    level: LogLevel | None = None
    """Of StreamApp and of the app's Python; the installation's when unset: `info`."""
    spark_level: LogLevel | None = None
    """Of Spark and all Java. Unset: `warn` in executors; in drivers `error`, without what StreamApp says."""
    loggers: Annotated[tuple[LoggerLevel, ...], Field(strict=False), named_list(64)] = ()
    """Levels of single loggers, before the two above."""
