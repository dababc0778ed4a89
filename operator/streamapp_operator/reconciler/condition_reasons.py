"""The reasons of conditions and events, other than refusals.

Refusals have `streamapp.spec.reasons.Reason`. Both are published: names are added, never renamed.
"""

from enum import StrEnum


class ConditionReason(StrEnum):
    """The reason of a condition or an event."""

    # Accepting and planning.
    ACCEPTED = "Accepted"
    PLANNED = "Planned"
    NOT_PLANNED_YET = "NotPlannedYet"
    LOOKUP_ENDED = "LookupEnded"
    PLANNED_BY_DRIVER = "PlannedByDriver"
    AWAITING_DRIVER = "AwaitingDriver"
    # The driver.
    NOT_ACCEPTED = "NotAccepted"
    LAUNCHED = "Launched"
    DRIVER_STARTING = "DriverStarting"
    DRIVER_PENDING = "DriverPending"
    DRIVER_FAILED = "DriverFailed"
    DRIVER_REPORTED = "DriverReported"
    LAUNCH_REJECTED = "LaunchRejected"
    NAME_TAKEN = "NameTaken"
    NOT_RESTORED = "NotRestored"
    LOCALITY_UNREADABLE = "LocalityUnreadable"
    EXECUTORS_MISSING = "ExecutorsMissing"
    STANDBY_MISSING = "StandbyMissing"
    RESTORING = "Restoring"
    RUNNING = "Running"
    ENDING = "DriverEnding"
    BACKING_OFF = "BackingOff"
    RESTARTS_EXHAUSTED = "RestartsExhausted"
    DELETED = "Deleted"
    NO_PROGRESS = "NoProgress"
    NODE_LOST = "NodeLost"
    SUPERSEDED = "Superseded"
    # Changes.
    SPEC_CHANGED = "SpecChanged"
    CONFIGURATION_CHANGED = "ConfigurationChanged"
    ACCOUNT_REPLACED = "AccountReplaced"
    PARTITIONS_GREW = "PartitionsGrew"
    MODEL_CHANGED = "ModelChanged"
    STABLE = "Stable"
    SCALED = "Scaled"
    TASKS_MOVED = "TasksMoved"
    TASKS_RETURNED = "TasksReturned"
    # Suspension and completion.
    SUSPENDED = "Suspended"
    NOT_SUSPENDED = "NotSuspended"
    RECONCILIATION_PAUSED = "ReconciliationPaused"
    NOT_PAUSED = "NotPaused"
    COMPLETED = "Completed"
    # Nothing is wrong.
    HEALTHY = "Healthy"
    UP_TO_DATE = "UpToDate"
