"""The one list of reasons for which an app, a plan or a model is refused.

They are published as condition reasons and in JSON output, so a name here is an interface: it is
added, never renamed.
"""

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """Why something was refused."""

    # Reading the resource.
    INVALID_SPEC = "InvalidSpec"
    NOT_YET_SUPPORTED = "NotYetSupported"
    UNUSED_PART = "UnusedPart"
    REPEATED_ROWS = "RepeatedRows"
    # Planning.
    JOIN_PARTITION_MISMATCH = "JoinPartitionMismatch"
    UNRESOLVED_PARTITIONS = "UnresolvedPartitions"
    MISSING_STREAM = "MissingStream"
    TOO_MANY_PARTITIONS = "TooManyPartitions"
    INVALID_GRAPH = "InvalidGraph"
    INVALID_CONFIG = "InvalidConfig"
    # Tasks and expansion.
    EXPANSION_SHRINKS = "ExpansionShrinks"
    EXPANSION_NOT_MULTIPLE = "ExpansionNotMultiple"
    EXPANSION_ALGORITHM_INVALID = "ExpansionAlgorithmInvalid"
    GROUPER_CHANGED = "GrouperChanged"
    GROUPER_INVALID = "GrouperInvalid"
    LAYOUT_CONFLICT = "LayoutConflict"
    NO_TASKS = "NoTasks"
    # Placement.
    LOCATION_PROVIDER_INVALID = "LocationProviderInvalid"
    NO_PROCESSORS = "NoProcessors"
    INSUFFICIENT_CAPACITY = "InsufficientCapacity"
    # The job model and other stored data.
    INVALID_JOB_MODEL = "InvalidJobModel"
    DAMAGED_DATA = "DamagedData"
    NEWER_FORMAT = "NewerFormat"
    TOO_LARGE = "TooLarge"
    # On a cluster.
    NOT_ALLOWED = "NotAllowed"
    OUTSIDE_ALLOW_LIST = "OutsideAllowList"
    UNSUPPORTED_SYSTEM = "UnsupportedSystem"
    CHANGE_REFUSED = "ChangeRefused"
    APPLICATION_ID_IN_USE = "ApplicationIdInUse"
    PODS_REFUSED = "PodsRefused"
    SYSTEM_UNAVAILABLE = "SystemUnavailable"
    INTERNAL_ERROR = "InternalError"
    # What rows wait for.
    AWAITING_SIDE_INPUT = "AwaitingSideInput"
    INPUT_UNAVAILABLE = "InputUnavailable"
    TRANSACTION_OPEN = "TransactionOpen"
    PARTITION_NOT_READ = "PartitionNotRead"
    # Schemas.
    SCHEMA_INCOMPATIBLE = "SchemaIncompatible"
    # State stores.
    STORE_DAMAGED = "StoreDamaged"
    STORE_BUSY = "StoreBusy"
    STORE_FULL = "StoreFull"
    STATE_CHANGED = "StateChanged"
    # Code of the app's own.
    USER_CODE_FAILED = "UserCodeFailed"


MENDED_BY_RESET: Final = frozenset(
    {
        Reason.STATE_CHANGED,
        Reason.CHANGE_REFUSED,
        Reason.GROUPER_CHANGED,
        Reason.EXPANSION_SHRINKS,
        Reason.EXPANSION_NOT_MULTIPLE,
        Reason.LAYOUT_CONFLICT,
    }
)
"""The refusals for the sake of state, which stand no longer once it is given up."""
